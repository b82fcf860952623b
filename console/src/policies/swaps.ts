/** Decisions before and after, three by three, in words and as rates. Pure. */
import { DECISIONS, type Decision } from '../../../src/domain/scorecard/scorecard.ts';
import type { PolicyTexts } from '../texts/en/policies.ts';

/** By the decision before, then by the one after, in the order of `DECISIONS`. */
export type SwapRows = readonly (readonly number[])[];

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

/** How many there are, and how many are approved before and after. */
export function approvalsOf(rows: SwapRows) {
  return {
    all: sum(rows.flat()),
    before: sum(rows[0] ?? []),
    after: sum(rows.map((row) => row[0] ?? 0)),
  };
}

/** Those that are decided otherwise. */
export function differing(rows: SwapRows): number {
  return sum(rows.map((row, before) => sum(row.filter((_, after) => after !== before))));
}

/** What changes, in words, the largest change first. */
export function changes(
  rows: SwapRows,
  policies: PolicyTexts,
  number: (value: number) => string,
): readonly string[] {
  const { decisions } = policies;
  const pairs = DECISIONS.flatMap((before, index) =>
    DECISIONS.map((after, at): readonly [Decision, Decision, number] => [
      before,
      after,
      rows[index]?.[at] ?? 0,
    ]),
  ).filter(([before, after, count]) => before !== after && count > 0);
  if (pairs.length === 0) return [policies.noSwap];
  return pairs
    .toSorted((a, b) => b[2] - a[2])
    .map(([before, after, count]) =>
      count === 1
        ? policies.becomesOne(decisions[before], decisions[after])
        : policies.becomes(number(count), decisions[before], decisions[after]),
    );
}
