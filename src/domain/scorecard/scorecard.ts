/**
 * Scores an application by a policy and decides (contract, "Scoring"; D27-D29). Has the form of policies, and the
 * built-in one, which an operator can replace with a file (`POLICY_FILE`). Pure: the same input gives the same result.
 */
import { CURRENCIES, type Currency, RATES_AS_OF } from '../../ground/base/country-data.ts';
import type { Application, DebtAge, NumDebts, PriorHistory } from '../application/fields.ts';

// The scoring policy: the points, bands and limits of the scorecard.

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

/** A scoring policy. */
export interface Policy {
  /** Stored with every application that the policy decided. A changed policy needs a new version. */
  readonly version: string;
  /** The terms of the reference installment (D27). `monthly_rate` is a fraction. */
  readonly reference_installment: { readonly months: number; readonly monthly_rate: number };
  /** Highest ratio first. The first band whose `min_ratio` is reached gives its points; without one there are none. */
  readonly payment_capacity: readonly { readonly min_ratio: number; readonly points: number }[];
  readonly channel: { readonly gig: number };
  readonly debt_age: Readonly<Record<DebtAge, number>>;
  readonly num_debts: Readonly<Record<NumDebts, number>>;
  readonly prior_history: Readonly<Record<PriorHistory, number>>;
  /** The least scores. Below `in_review` an application is rejected. */
  readonly decision: { readonly approved: number; readonly in_review: number };
  /** An application above this limit is rejected with any score (D29). */
  readonly amount_limit: {
    readonly usd: number;
    /**
     * The largest share of the monthly income that the reference installment may take. If it is absent, as in older
     * policies, the income does not limit the amount.
     */
    readonly max_installment_share?: number;
    readonly rates_as_of: string;
    /** Units of the currency for one USD. */
    readonly rates: Readonly<Record<Currency, number>>;
  };
  /** Absent: `DEFAULT_INCOME_RULES`. */
  readonly income?: IncomeRules;
}

/** The built-in policy. */
export const DEFAULT_POLICY: Policy = {
  version: 'default-2',
  reference_installment: { months: 36, monthly_rate: 0.02 },
  payment_capacity: [
    { min_ratio: 4, points: 25 },
    { min_ratio: 3, points: 20 },
    { min_ratio: 2, points: 13 },
    { min_ratio: 1.5, points: 7 },
  ],
  channel: { gig: 20 },
  debt_age: { lt6: 20, '6a12': 15, '1a2': 8, gt2: 2 },
  num_debts: { '1': 20, '2': 12, '3': 4 },
  prior_history: { yes: 15, no: 0 },
  decision: { approved: 70, in_review: 30 },
  amount_limit: { usd: 25_000, max_installment_share: 1, rates_as_of: RATES_AS_OF, rates: CURRENCIES },
};

export const DECISIONS = ['approved', 'in_review', 'rejected'] as const;
export type Decision = (typeof DECISIONS)[number];

/** The limits of the amount, as the code of a rejection names them to a partner (D29, D41). */
export const LIMIT_CODES = ['amount_above_limit', 'installment_above_income'] as const;
export type LimitCode = (typeof LIMIT_CODES)[number];

/** The result of the scorecard for one application. */
export interface Assessment {
  readonly points: Points;
  /** 0 to 100: the sum of the points. */
  readonly score: number;
  readonly decision: Decision;
}

/** The level monthly payment of one unit of debt (annuity; D27). With a rate of 0 it is 1 / months. */
export function installmentFactor(policy: Policy): number {
  const { months, monthly_rate: rate } = policy.reference_installment;
  return rate === 0 ? 1 / months : rate / (1 - (1 + rate) ** -months);
}

/** Points per criterion, their sum and the decision (contract, "Outcome at creation"; D27-D29). */
export function assess(application: Application, policy: Policy): Assessment {
  const capacity = capacityOf(application, policy);
  const points: Points = {
    payment_capacity: paymentCapacityPoints(capacity, policy),
    channel: policy.channel.gig,
    debt_age: policy.debt_age[application.debt_age],
    num_debts: policy.num_debts[application.num_debts],
    prior_history: policy.prior_history[application.prior_history],
  };
  let score = 0;
  for (const criterion of CRITERIA) score += points[criterion];
  const isRejected = passedLimit(application, policy, capacity) !== null;
  return { points, score, decision: isRejected ? 'rejected' : decide(score, policy) };
}

type Amounts = Pick<Application, 'income' | 'debt_amount' | 'currency'>;

/** The monthly income in reference installments (D27). */
function capacityOf({ income, debt_amount }: Amounts, policy: Policy): number {
  return income / (debt_amount * installmentFactor(policy));
}

function paymentCapacityPoints(capacity: number, policy: Policy): number {
  for (const band of policy.payment_capacity) if (capacity >= band.min_ratio) return band.points;
  return 0;
}

/** The limit that the amount passes, which rejects with any score; null: none (D29). */
export function passedLimit(
  application: Amounts,
  policy: Policy,
  capacity = capacityOf(application, policy),
): LimitCode | null {
  const { usd, rates, max_installment_share: share } = policy.amount_limit;
  if (application.debt_amount > usd * rates[application.currency]) return 'amount_above_limit';
  return share !== undefined && capacity * share < 1 ? 'installment_above_income' : null;
}

function decide(score: number, policy: Policy): Decision {
  if (score >= policy.decision.approved) return 'approved';
  return score >= policy.decision.in_review ? 'in_review' : 'rejected';
}
