/**
 * Adds up what a decision on many is about: totals, and what speaks against it (D48; docs/operators.md, "Proposals").
 * Pure.
 */

import { isAgainstScore } from '../../../domain/application/against-score.ts';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { ReviewAction } from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import type { Authority } from '../../../domain/operator/authority.ts';
import { type Contradiction, contradictedCodes, type Evidence } from '../rules/against.ts';
import { secondReasonOf } from '../rules/proposal.ts';
import type { DecisionFacts } from './decided-facts.ts';

/** What a decision on many is about. Applications that do not exist are not counted. */
export interface SeenMany {
  readonly count: number;
  /** The totals by currency, the most applications first; null: the currency cannot be read. */
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

/** Adds up what an act on the applications with these facts is about. */
export function addUp(
  act: ReviewAction,
  facts: ReadonlyMap<ApplicationId, DecisionFacts>,
  {
    evidenceOf,
    authority,
  }: { readonly evidenceOf: (id: ApplicationId) => Evidence; readonly authority: Authority },
): SeenMany {
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
    count: facts.size,
    aboveAuthority,
    againstScore,
    contradicted: [...contradicted.values()],
    totals: [...totals]
      .map(([currency, total]) => ({ currency, ...total }))
      .toSorted((a, b) => b.count - a.count || `${a.currency}`.localeCompare(`${b.currency}`)),
  };
}

/** How much was shown as speaking against a decision on many. */
export interface SeenAgainst {
  readonly aboveAuthority: number;
  readonly againstScore: number;
  /** How many files contradict the code of the reason. */
  readonly contradicted: number;
}

/** Whether more speaks against the decision than was shown. If less does now, the operator need not look again. */
export function isWorse(now: SeenMany, reasonCode: ReasonCode, seen: SeenAgainst): boolean {
  const contradicted = now.contradicted.filter(({ code }) => code === reasonCode);
  return (
    now.aboveAuthority > seen.aboveAuthority ||
    now.againstScore > seen.againstScore ||
    contradicted.reduce((sum, { count }) => sum + count, 0) > seen.contradicted
  );
}
