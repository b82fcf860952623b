/**
 * The first form of policies, which stores of version 1.0 and today's policy files have, and the built-in policy in it
 * (D27-D29). It is read for ever: this file makes a document of it, and the numbers that it has always decided with.
 * Pure.
 */
import { CURRENCIES, type Currency, RATES_AS_OF } from '../../ground/base/country-data.ts';
import type { DebtAge, NumDebts, PriorHistory } from '../application/fields.ts';
import { byCurrency, type Constants, textOfNumber } from './constants.ts';
import type { Limit, PolicyDocument, RatioAttribute, ValueAttribute } from './document.ts';
import { capacityBelow, capacityFrom } from './reasons.ts';
import type { IncomeRules } from './scorecard.ts';

/** A policy of the first form. Numbers are doubles. */
export interface Form1 {
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
export const DEFAULT_POLICY: Form1 = {
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

/** The ids of the limits that a policy of the first form has. */
const AMOUNT_CAP = 'amount_cap';
const CAPACITY_CAP = 'capacity_cap';

/** The document that says the same as a policy of the first form, with the built-in reasons. */
export function documentOfForm1(policy: Form1): PolicyDocument {
  const { reference_installment: terms, decision, amount_limit: limit, income } = policy;
  const share = limit.max_installment_share;
  return {
    version: policy.version,
    reference_installment: { months: terms.months, monthly_rate: textOfNumber(terms.monthly_rate) },
    characteristics: {
      payment_capacity: { attributes: intervals(policy.payment_capacity) },
      channel: { attributes: [{ is: ['gig'], points: policy.channel.gig }] },
      debt_age: { attributes: attributesOf(policy.debt_age, DEBT_AGE_REASONS) },
      num_debts: { attributes: attributesOf(policy.num_debts, NUM_DEBTS_REASONS) },
      prior_history: { attributes: attributesOf(policy.prior_history, PRIOR_HISTORY_REASONS) },
    },
    limits: [
      { id: AMOUNT_CAP, usd: textOfNumber(limit.usd), reason: 'amount_above_limit' },
      ...(share === undefined ? [] : [shareLimit(share)]),
    ],
    rates: { ...byCurrency((currency) => textOfNumber(limit.rates[currency])), as_of: limit.rates_as_of },
    decision,
    ...(income !== undefined && {
      income: {
        ...income,
        confirm_ratio: textOfNumber(income.confirm_ratio),
        rescore_ratio: textOfNumber(income.rescore_ratio),
      },
    }),
  };
}

function shareLimit(share: number): Limit {
  return {
    id: CAPACITY_CAP,
    installments_of_income: textOfNumber(share),
    reason: 'installment_above_income',
  };
}

const DEBT_AGE_REASONS: Readonly<Record<DebtAge, string>> = {
  lt6: 'debt_under_6_months',
  '6a12': 'debt_6_months',
  '1a2': 'debt_1_year',
  gt2: 'debt_2_years',
};
const NUM_DEBTS_REASONS: Readonly<Record<NumDebts, string>> = {
  '1': 'one_debt',
  '2': 'two_debts',
  '3': 'three_debts',
};
const PRIOR_HISTORY_REASONS: Readonly<Record<PriorHistory, string>> = { yes: 'history', no: 'no_history' };

function attributesOf<V extends string>(
  points: Readonly<Record<V, number>>,
  reasons: Readonly<Record<V, string>>,
): ValueAttribute[] {
  return (Object.keys(reasons) as V[]).map((value) => ({
    is: [value],
    points: points[value],
    reason: reasons[value],
  }));
}

/** The bands as intervals, the lowest first. What is below all bands gets no points. */
function intervals(bands: Form1['payment_capacity']): RatioAttribute[] {
  const starts = [{ from: '0', points: 0 }];
  for (const { min_ratio, points } of bands.toReversed())
    starts.push({ from: textOfNumber(min_ratio), points });
  return starts.map(({ from, points }, index) => {
    const to = starts[index + 1]?.from;
    if (to === undefined) return { from, points, reason: capacityFrom(from) };
    return { from, to, points, reason: capacityBelow(to) };
  });
}

/**
 * What a policy of the first form has decided with since version 1.0: the factor as that version computed it, and the
 * products of doubles. `**` may differ between engines by the last digit, so these are stored at their first use.
 */
export function constantsOfForm1({ reference_installment: terms, amount_limit: limit }: Form1): Constants {
  const { months, monthly_rate: rate } = terms;
  const factor = rate === 0 ? 1 / months : rate / (1 - (1 + rate) ** -months);
  const amount = (currency: Currency) => Math.min(limit.usd * limit.rates[currency], Number.MAX_VALUE);
  return {
    factor: textOfNumber(factor),
    factors: {},
    amounts: { [AMOUNT_CAP]: byCurrency((currency) => textOfNumber(amount(currency))) },
  };
}
