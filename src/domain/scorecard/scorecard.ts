/**
 * The terms of the scorecard: criteria, points, decisions, and what a policy makes of an application (contract,
 * "Scoring"; D27-D30, D50). `document.ts` has the form of policies, `card.ts` decides by one. Pure.
 */
import type { Application } from '../application/fields.ts';

/** The contract's criteria, each with its most points. They add up to 100. `channel` is the channel of origin. */
export const MAX_POINTS = {
  payment_capacity: 25,
  channel: 20,
  debt_age: 20,
  num_debts: 20,
  prior_history: 15,
} as const;

export type Criterion = keyof typeof MAX_POINTS;
export const CRITERIA = Object.keys(MAX_POINTS) as Criterion[];
export type Points = Readonly<Record<Criterion, number>>;

/** When an observed income confirms the declared one (D44). Ratios are of the declared income. */
export interface IncomeRules {
  /** Whole calendar months that count, one after the other. */
  readonly months: number;
  /** The newest of them is at most so many months before the current one. */
  readonly newest_within_months: number;
  /** From this ratio on the income is confirmed. */
  readonly confirm_ratio: number;
  /** From this ratio on the application is scored again with what was observed. */
  readonly rescore_ratio: number;
}

/** The rules of a policy that has none of its own. */
export const DEFAULT_INCOME_RULES: IncomeRules = {
  months: 3,
  newest_within_months: 2,
  confirm_ratio: 0.9,
  rescore_ratio: 0.7,
};

export const DECISIONS = ['approved', 'in_review', 'rejected'] as const;
export type Decision = (typeof DECISIONS)[number];

/** The reasons of the built-in policy's limits, as the code of a rejection names them to a partner (D29, D41). */
export const LIMIT_CODES = ['amount_above_limit', 'installment_above_income'] as const;
export type LimitCode = (typeof LIMIT_CODES)[number];

/** The result of a policy for one application. All applications with the same result share it. */
export interface Assessment {
  readonly points: Points;
  /** 0 to 100: the sum of the points. */
  readonly score: number;
  readonly decision: Decision;
  /** Up to four codes, the most important first; none of an approval (D50). */
  readonly reasons: readonly string[];
  /** The reason of the first limit that rejected; null: the score alone decided. */
  readonly limit: string | null;
}

/** What a decision needs to know of an application. All of it is stored unsealed, and outlives an erasure. */
export type DecisionFacts = Pick<
  Application,
  'income' | 'debt_amount' | 'currency' | 'num_debts' | 'debt_age' | 'prior_history'
>;

/** A policy that decides; `card.ts` makes one of a document. */
export interface DecidingPolicy {
  /** Its stored id. */
  readonly id: number;
  readonly card: { decide(facts: DecisionFacts): Assessment };
}

/** The policy that is live (D51). */
export interface LivePolicySource {
  /** As this process last saw it. */
  readonly now: DecidingPolicy;
  /** Looks whether another one is live by now. */
  refresh(): Promise<void>;
}
