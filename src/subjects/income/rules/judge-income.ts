/**
 * Compares the observed income with the declared one (D44; docs/income.md, "What follows"). Amounts are whole
 * hundredths. Pure.
 */
import { type Month, monthNumber } from '../../../domain/document/month.ts';
import {
  type Assessment,
  DECISIONS,
  type Decision,
  type IncomeRules,
} from '../../../domain/scorecard/scorecard.ts';

/** What one statement says. */
export interface Observation {
  /** Who paid. Statements of one source are about the same money; those of different sources add up. */
  readonly source: string;
  readonly currency: string | null;
  /** The month in which the statement was made: this month and later ones are not whole. Null: unknown. */
  readonly issued: Month | null;
  readonly months: readonly { readonly month: Month; readonly amount: number }[];
}

/** Each reason with its outcome. */
export const INCOME_OUTCOMES = {
  confirmed: 'confirmed',
  same_decision: 'adjusted',
  no_documents: 'operator',
  documents_waiting: 'operator',
  unreadable_application: 'operator',
  other_currency: 'operator',
  future_month: 'operator',
  negative_amount: 'operator',
  contradiction: 'operator',
  too_few_months: 'operator',
  too_old: 'operator',
  far_below: 'operator',
  worse_decision: 'operator',
  another_holder: 'operator',
  holder_not_found: 'operator',
} as const satisfies Readonly<Record<string, 'confirmed' | 'adjusted' | 'operator'>>;

export type IncomeReason = keyof typeof INCOME_OUTCOMES;
export type IncomeOutcome = (typeof INCOME_OUTCOMES)[IncomeReason];

/** The declared income, and how the application is scored. */
export interface Declared {
  readonly income: number;
  readonly currency: string;
  readonly decision: Decision;
  /** Scores the application again with another income, in units of the currency. */
  readonly assess: (income: number) => Assessment;
}

/** The newest months that may be observed. */
export interface Calendar {
  /** The newest month that is over in every country. */
  readonly lastWhole: Month;
  /** The newest month that has begun in some country. */
  readonly latest: Month;
}

export interface IncomeJudgement {
  readonly outcome: IncomeOutcome;
  readonly reason: IncomeReason;
  /** The months that count, oldest first. */
  readonly months: readonly { readonly month: Month; readonly amount: number }[];
  /** The lower one of mean and median; null: there are too few months. */
  readonly observed: number | null;
  /** null: the application was not scored again. */
  readonly again: Assessment | null;
}

const NOTHING = { months: [], observed: null, again: null } as const;

/** Judges the observations. Their order does not matter, nor does one that comes twice. */
export function judgeIncome(
  declared: Declared,
  observations: readonly Observation[],
  calendar: Calendar,
  rules: IncomeRules,
): IncomeJudgement {
  const fault = faultOf(declared.currency, observations, calendar);
  if (fault !== null) return judgement(fault);
  const amounts = amountsOf(observations, calendar);
  if (amounts === null) return judgement('contradiction');
  const newest = [...amounts.keys()].sort().at(-1);
  if (newest === undefined) return judgement('too_few_months');
  const age = monthNumber(calendar.lastWhole) - monthNumber(newest) + 1;
  if (age > rules.newest_within_months) return judgement('too_old');
  const months = lastMonths(newest, rules.months).flatMap((month) => {
    const amount = amounts.get(month);
    return amount === undefined ? [] : [{ month, amount }];
  });
  if (months.length < rules.months) return judgement('too_few_months');
  return compare(declared, months, rules);
}

function judgement(reason: IncomeReason, more: Partial<IncomeJudgement> = {}): IncomeJudgement {
  return { ...NOTHING, ...more, reason, outcome: INCOME_OUTCOMES[reason] };
}

/** A fault that decides whatever the amounts are, in any of the statements. */
function faultOf(
  currency: string,
  observations: readonly Observation[],
  { latest }: Calendar,
): IncomeReason | null {
  if (observations.length === 0) return 'no_documents';
  if (observations.some((one) => one.currency !== currency)) return 'other_currency';
  const months = observations.flatMap((one) => one.months);
  if (months.some(({ month }) => monthNumber(month) > monthNumber(latest))) return 'future_month';
  return months.some(({ amount }) => amount < 0) ? 'negative_amount' : null;
}

/** The amount of each whole month over all sources; null if two statements of a source differ about a month. */
function amountsOf(observations: readonly Observation[], { lastWhole }: Calendar): Map<Month, number> | null {
  const bySource = new Map<string, number>();
  const sums = new Map<Month, number>();
  for (const { source, issued, months } of observations) {
    for (const { month, amount } of months) {
      const isWhole = month <= lastWhole && (issued === null || month < issued);
      if (!isWhole) continue;
      const key = `${month} ${source}`;
      const known = bySource.get(key);
      if (known !== undefined && known !== amount) return null;
      if (known === undefined) sums.set(month, (sums.get(month) ?? 0) + amount);
      bySource.set(key, amount);
    }
  }
  return sums;
}

/** The last `count` months up to `newest`, oldest first. */
function lastMonths(newest: Month, count: number): Month[] {
  const last = monthNumber(newest);
  return Array.from({ length: count }, (_, index) => {
    const number = last - count + 1 + index;
    return `${Math.floor(number / 12)}-${String((number % 12) + 1).padStart(2, '0')}`;
  });
}

function compare(declared: Declared, months: IncomeJudgement['months'], rules: IncomeRules): IncomeJudgement {
  const observed = lowerOfMeanAndMedian(months.map(({ amount }) => amount));
  const reaches = (ratio: number) => isShare(observed, Math.round(declared.income * 100), ratio);
  if (reaches(rules.confirm_ratio)) return judgement('confirmed', { months, observed });
  if (!reaches(rules.rescore_ratio)) return judgement('far_below', { months, observed });
  const again = declared.assess(observed / 100);
  const isWorse = DECISIONS.indexOf(again.decision) > DECISIONS.indexOf(declared.decision);
  return judgement(isWorse ? 'worse_decision' : 'same_decision', { months, observed, again });
}

/** Rounded down to a whole hundredth. */
function lowerOfMeanAndMedian(amounts: readonly number[]): number {
  const sorted = amounts.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const median = (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
  const mean = sorted.reduce((sum, amount) => sum + amount, 0) / sorted.length;
  return Math.floor(Math.min(mean, median));
}

/**
 * Whether `part` is at least this share of `whole`, exact to a ten-thousandth of the ratio. Computed with `bigint`,
 * because products of amounts do not fit a double.
 */
function isShare(part: number, whole: number, ratio: number): boolean {
  return BigInt(part) * 10_000n >= BigInt(whole) * BigInt(Math.round(ratio * 10_000));
}
