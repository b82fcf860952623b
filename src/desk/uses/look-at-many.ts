/** What a decision on many would be about, before it is proposed (D48). */
import type { ReviewAction } from '../../applications/rules/lifecycle.ts';
import type { ReasonCode } from '../../applications/rules/reason-codes.ts';
import type { Database } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import { type Contradiction, contradictedCodes } from '../rules/against.ts';
import { isAgainstScore } from '../rules/lean.ts';
import { secondReasonOf } from '../rules/proposal.ts';
import { readDeciders } from '../sql/deciders.ts';
import { decidedFactsOf, readEvidence } from './decided-facts.ts';
import { decidedOf, type Many, requireOneNaming } from './propose-many.ts';

/** Applications that are not there count nowhere. */
export interface SeenMany {
  readonly count: number;
  /** By currency, the most applications first; null: it cannot be read. */
  readonly totals: readonly {
    readonly currency: string | null;
    readonly count: number;
    readonly debtAmount: number;
  }[];
  readonly aboveAuthority: number;
  readonly againstScore: number;
  readonly contradicted: readonly {
    readonly code: ReasonCode;
    readonly why: Contradiction;
    readonly count: number;
  }[];
}

/**
 * Adds up what an act on these applications would be about. Throws `OperatorError` for a fault of the body, and a
 * `Refusal` (404) where the selection has ended.
 */
export async function lookAtMany(
  { database, vault }: { readonly database: Database; readonly vault: Vault },
  { act, makerId }: { readonly act: ReviewAction; readonly makerId: number },
  many: Many,
): Promise<SeenMany> {
  requireOneNaming(many);
  const ids = (await decidedOf(database, makerId, many)).map(({ id }) => id);
  const facts = await decidedFactsOf(database, ids);
  const evidenceOf = await readEvidence(database, ids);
  const authority = (await readDeciders(database, vault, [makerId])).get(makerId)?.authority ?? new Map();
  const totals = new Map<string | null, { count: number; debtAmount: number }>();
  const contradicted = new Map<string, { code: ReasonCode; why: Contradiction; count: number }>();
  let [aboveAuthority, againstScore] = [0, 0];
  for (const [id, { currency, debtAmount, score }] of facts) {
    const total = totals.get(currency) ?? { count: 0, debtAmount: 0 };
    totals.set(currency, { count: total.count + 1, debtAmount: total.debtAmount + (debtAmount ?? 0) });
    if (secondReasonOf({ act, isOverride: false, currency, debtAmount }, authority) !== null)
      aboveAuthority += 1;
    if (isAgainstScore(act, score)) againstScore += 1;
    for (const one of contradictedCodes(act, evidenceOf(id))) {
      const name = `${one.code} ${one.why}`;
      contradicted.set(name, { ...one, count: (contradicted.get(name)?.count ?? 0) + 1 });
    }
  }
  return {
    ...{ count: facts.size, aboveAuthority, againstScore, contradicted: [...contradicted.values()] },
    totals: [...totals]
      .map(([currency, total]) => ({ currency, ...total }))
      .toSorted((a, b) => b.count - a.count || `${a.currency}`.localeCompare(`${b.currency}`)),
  };
}
