/**
 * The scoring policy: the points, bands and limits of the scorecard (contract, "Scoring"; D27-D29). The built-in policy
 * is below. An operator can replace it with a file of the same form.
 */

import { CURRENCIES, type Currency, RATES_AS_OF } from '../../ground/base/currency-data.ts';
import type { DebtAge, NumDebts, PriorHistory } from '../application/fields.ts';

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
     * The largest share of the monthly income that the reference installment may take. Absent, as in policies before
     * this rule: the income does not limit the amount.
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
