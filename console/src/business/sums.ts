/** Sums, rates and the funnel of what the service counted in a period (docs/business.md). */
import type { BusinessPeriodReply } from '../../../src/subjects/business/routes/business.ts';
import type { BusinessFilters } from '../api/business.ts';

export type Row = BusinessPeriodReply['rows'][number];
export type By = BusinessPeriodReply['by'];

export const PERIODS = ['day', 'week', 'month'] as const satisfies readonly By[];
export const REFUSALS = ['duplicate', 'over_quota', 'invalid'] as const;
const SUMMED = [
  ...(['registered', 'refused', 'approved', 'in_review', 'rejected', 'review_approved'] as const),
  ...(['review_rejected', 'overridden', 'started', 'documents', 'offered', 'signed', 'withdrawn'] as const),
  ...(['disbursed', 'duplicate', 'over_quota', 'invalid'] as const),
] as const;
export type Sums = Readonly<Record<(typeof SUMMED)[number], number>>;

/** The sums of all rows. */
export function sumsOf(rows: readonly Row[]): Sums {
  return Object.fromEntries(
    SUMMED.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)]),
  ) as Sums;
}

/** Approvals, those of reviews too. */
export const approvalsOf = (sums: Sums) => sums.approved + sums.review_approved;
export const rejectionsOf = (sums: Sums) => sums.rejected + sums.review_rejected;

/** The share of approvals in all final decisions; null: there was none. */
export function rateOf(sums: Sums): number | null {
  const final = approvalsOf(sums) + rejectionsOf(sums);
  return final === 0 ? null : approvalsOf(sums) / final;
}

/** How much more than before, as a share of before; null: there was nothing before. */
export function changeOf(now: number, before: number): number | null {
  return before === 0 ? null : now / before - 1;
}

export const STEPS = [
  ...(['registered', 'approved', 'started', 'documents', 'offered', 'signed', 'disbursed'] as const),
] as const;
export interface FunnelStep {
  readonly step: (typeof STEPS)[number];
  readonly count: number;
  /** Of the step before, who are not in this one; 0 where this one has more. */
  readonly lost: number;
}

/** The steps of the business's way, from the registration to the payment. */
export function funnelOf(sums: Sums): FunnelStep[] {
  const counts = STEPS.map((step) => (step === 'approved' ? approvalsOf(sums) : sums[step]));
  return STEPS.map((step, index) => {
    const count = counts[index]!;
    return { step, count, lost: Math.max((counts[index - 1] ?? count) - count, 0) };
  });
}

const SHOWN = { day: 45, week: 26, month: 24 } as const;

/** The first days of the periods that may be chosen, the one that goes on first. Days are in UTC. */
export function periodsUpTo(by: By, now: number): string[] {
  return Array.from({ length: SHOWN[by] }, (_, back) => {
    const at = new Date(now);
    if (by === 'month') at.setUTCMonth(at.getUTCMonth() - back, 1);
    else {
      const sinceMonday = (at.getUTCDay() + 6) % 7;
      at.setUTCDate(at.getUTCDate() - (by === 'day' ? back : sinceMonday + 7 * back));
    }
    return at.toISOString().slice(0, 10);
  });
}

/** All periods from one to another, in the order of time. */
export function everyPeriod(by: By, since: string, until: string): string[] {
  const periods = [since];
  for (const at = new Date(since); periods.at(-1)! < until; ) {
    if (by === 'month') at.setUTCMonth(at.getUTCMonth() + 1);
    else at.setUTCDate(at.getUTCDate() + (by === 'day' ? 1 : 7));
    periods.push(at.toISOString().slice(0, 10));
  }
  return periods;
}

const FILTERS = {
  by: /^(day|week|month)$/,
  period: /^\d{4}-\d\d-\d\d$/,
  partner: /^[1-9]\d{0,8}$/,
  country: /^[A-Z]{2}$/,
  currency: /^[A-Z]{3}$/,
} as const;

/** What an address asks for. What is no value is left out. */
export function filtersOf(search: URLSearchParams): BusinessFilters {
  const found = Object.entries(FILTERS).flatMap(([name, form]) => {
    const value = search.get(name);
    return value !== null && form.test(value) ? [[name, value] as const] : [];
  });
  return { by: 'week', ...Object.fromEntries(found) };
}

/** The amounts of rows by currency, as numbers that are shown and not added to anything. */
export function amountsOf(
  rows: readonly Row[],
  name: 'amount_registered' | 'amount_disbursed',
): Map<string, number> {
  const sums = new Map<string, number>();
  for (const row of rows) {
    const amount = Number(row[name]);
    if (amount > 0) sums.set(row.currency, (sums.get(row.currency) ?? 0) + amount);
  }
  return sums;
}
