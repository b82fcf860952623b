/**
 * Computes what the loans of applications would cost a month by the terms of the day, for whoever decides on them (D45;
 * docs/signing.md, "The loan"). Stores and notes nothing.
 */
import { type ApplicationId, partitionOf } from '../../../domain/application/ids.ts';
import type { Installment, Unpriced } from '../../../domain/loan/installment.ts';
import { priceLoan } from '../../../domain/loan/offer.ts';
import type { Terms } from '../../../domain/loan/terms.ts';
import { moneyText } from '../../../domain/money/money.ts';
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

/** The installments by the terms of the day (null: none are set); an application that does not exist is absent. */
export async function installmentsOf(
  session: Session,
  vault: Vault,
  terms: Terms | null,
  ids: readonly ApplicationId[],
): Promise<ReadonlyMap<ApplicationId, DeclaredCapacity>> {
  const now = await databaseTime(session);
  const found = new Map<ApplicationId, DeclaredCapacity>();
  for (const some of byPartitions(ids, partitionOf))
    for (const asked of await readAskedLoans(session, vault, some))
      found.set(asked.id, { installment: installmentOf(terms, asked, now), declared: asked.income });
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
