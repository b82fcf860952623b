/**
 * Computes what the loans of applications would cost a month by the terms of the day, for whoever decides on them (D45;
 * docs/signing.md, "The loan"). Stores and notes nothing.
 */
import { type ApplicationId, partitionOf } from '../../../domain/application/ids.ts';
import type { Installment, Unpriced } from '../../../domain/loan/installment.ts';
import { priceLoan } from '../../../domain/loan/offer.ts';
import type { Terms } from '../../../domain/loan/terms.ts';
import { moneyText } from '../../../domain/money/money.ts';
import { HOUR_MS } from '../../../ground/base/clock.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { databaseTime } from '../../../ground/postgres/database-time.ts';
import type { Vault } from '../../../seal/vault.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';
import { type AskedLoan, readAskedLoans } from '../sql/asked-loans.ts';
import { lendingTerms } from './price.ts';

/** An installment, and the declared monthly income that it stands against; null: it cannot be read. */
export interface DeclaredCapacity {
  readonly installment: Installment;
  readonly declared: number | null;
}

const MOST_KEPT = 10_000;

/**
 * The installments by the terms of this hour, for a page that reads the same applications every few seconds: what they
 * ask for never changes. An application that is erased meanwhile is no more among those that are read.
 */
export class KeptInstallments {
  #terms: Terms | null = null;
  #hour = -1;
  #kept = new Map<ApplicationId, DeclaredCapacity>();

  /** What is kept of this hour and these terms; empty where something else was kept, or too much. */
  of(terms: Terms | null, now: Date): Map<ApplicationId, DeclaredCapacity> {
    const hour = Math.floor(now.getTime() / HOUR_MS);
    if (terms !== this.#terms || hour !== this.#hour || this.#kept.size > MOST_KEPT) this.#kept = new Map();
    [this.#terms, this.#hour] = [terms, hour];
    return this.#kept;
  }
}

/** The installments by the terms of the day (null: none are set); an application that does not exist is absent. */
export async function installmentsOf(
  session: Session,
  vault: Vault,
  terms: Terms | null,
  ids: readonly ApplicationId[],
  { kept: keeping = new KeptInstallments() }: { readonly kept?: KeptInstallments } = {},
): Promise<ReadonlyMap<ApplicationId, DeclaredCapacity>> {
  const now = await databaseTime(session);
  const kept = keeping.of(terms, now);
  const found = new Map(ids.flatMap((id) => (kept.has(id) ? [[id, kept.get(id)!] as const] : [])));
  const others = ids.filter((id) => !found.has(id));
  for (const some of byPartitions(others, partitionOf))
    for (const asked of await readAskedLoans(session, vault, some)) {
      const priced = { installment: installmentOf(terms, asked, now), declared: asked.income };
      found.set(asked.id, priced);
      // What cannot be read may be mended.
      if (priced.installment.unpriced !== 'unreadable') kept.set(asked.id, priced);
    }
  return found;
}

function installmentOf(terms: Terms | null, asked: AskedLoan, now: Date): Installment {
  const { amount, currency, country } = asked;
  if (amount === null || currency === null || country === null) return unpriced('unreadable');
  if (terms === null) return unpriced('no_terms');
  const current = lendingTerms(terms, country);
  if (typeof current === 'string') return unpriced(current);
  const priced = priceLoan(country, current, { amount, currency }, now);
  if (priced.kind === 'blocked') return unpriced(priced.reason);
  const { installment, payments } = priced.loan;
  return { amount: moneyText(installment, currency), months: payments.length, unpriced: null };
}

function unpriced(reason: Unpriced): Installment {
  return { amount: null, months: null, unpriced: reason };
}
