/**
 * Whether the applications of today are those that a policy was made for: the population stability index of each
 * characteristic, on the policy's own attributes, with a threshold that knows the sizes of the samples (D51;
 * docs/policy.md, "Drift"). Pure.
 */
import { DEBT_AGES, NUM_DEBTS, PRIOR_HISTORIES } from '../../../domain/application/fields.ts';
import type { Card } from '../../../domain/scorecard/card.ts';
import { DECISIONS, type DecisionFacts } from '../../../domain/scorecard/scorecard.ts';

/** What is compared: the characteristics that differ between applicants, and the decision of the live policy. */
export const COMPARED = ['payment_capacity', 'debt_age', 'num_debts', 'prior_history', 'decision'] as const;
export type Compared = (typeof COMPARED)[number];

const indexes = <T extends string>(values: readonly T[]) =>
  Object.fromEntries(values.map((value, index) => [value, index])) as Record<T, number>;
const DEBT_AGE_INDEX = indexes(DEBT_AGES);
const NUM_DEBTS_INDEX = indexes(NUM_DEBTS);
const PRIOR_HISTORY_INDEX = indexes(PRIOR_HISTORIES);
const DECISION_INDEX = indexes(DECISIONS);

/** How many applications of a time are in each bin. */
export class Distribution {
  readonly #card: Card;
  readonly #bins: Readonly<Record<Compared, number[]>>;
  applications = 0;

  /** `counts`: as `counts` of another one gave them. */
  constructor(card: Card, counts?: readonly number[]) {
    this.#card = card;
    const empty = (bins: readonly unknown[]) => bins.map(() => 0);
    this.#bins = {
      payment_capacity: empty(card.document.characteristics.payment_capacity.attributes),
      debt_age: empty(DEBT_AGES),
      num_debts: empty(NUM_DEBTS),
      prior_history: empty(PRIOR_HISTORIES),
      decision: empty(DECISIONS),
    };
    if (counts !== undefined) this.addCounts(counts);
  }

  add(facts: DecisionFacts): void {
    const bins = this.#bins;
    this.applications += 1;
    bins.payment_capacity[this.#card.capacityOf(facts)]! += 1;
    bins.debt_age[DEBT_AGE_INDEX[facts.debt_age]]! += 1;
    bins.num_debts[NUM_DEBTS_INDEX[facts.num_debts]]! += 1;
    bins.prior_history[PRIOR_HISTORY_INDEX[facts.prior_history]]! += 1;
    bins.decision[DECISION_INDEX[this.#card.decide(facts).decision]]! += 1;
  }

  of(name: Compared): readonly number[] {
    return this.#bins[name];
  }

  /** All bins in one list, in the order of `COMPARED`. */
  get counts(): number[] {
    return COMPARED.flatMap((name) => this.#bins[name]);
  }

  /** Adds the applications of another one of the same policy. */
  addCounts(counts: readonly number[]): void {
    let place = 0;
    for (const name of COMPARED) {
      const bins = this.#bins[name];
      for (let bin = 0; bin < bins.length; bin += 1, place += 1) bins[bin]! += counts[place] ?? 0;
    }
    // Each application has a decision.
    this.applications = this.#bins.decision.reduce((sum, count) => sum + count, 0);
  }
}

export interface Drift {
  readonly characteristic: Compared;
  /** null: one of the samples is smaller than `LEAST_SAMPLE`. */
  readonly psi: number | null;
  /** What the index has to pass. */
  readonly threshold: number | null;
  readonly alert: boolean;
}

/** Below it an index says nothing. */
export const LEAST_SAMPLE = 100;
/** By custom, an index below it is no shift. */
const NO_SHIFT = 0.1;

/**
 * How much more than once an index has to pass what chance makes where it is computed again and again: so often, chance
 * gets its one case of a thousand sooner or later.
 */
export const WATCHED = 1.5;

/** Compares two samples; `watched`: once or `WATCHED`. */
export function driftOf(baseline: Distribution, now: Distribution, watched = 1): Drift[] {
  return COMPARED.map((characteristic): Drift => {
    const [before, after] = [baseline.of(characteristic), now.of(characteristic)];
    if (Math.min(baseline.applications, now.applications) < LEAST_SAMPLE)
      return { characteristic, psi: null, threshold: null, alert: false };
    const index = psi(before, after);
    const threshold = thresholdOf(before.length, baseline.applications, now.applications, watched);
    return { characteristic, psi: index, threshold, alert: index > threshold };
  });
}

/** Added to each bin, so that an empty one makes no infinity. */
const ADDED = 0.5;

/** The population stability index of two samples with the same bins: the sum of (q - p) ln(q / p). */
export function psi(before: readonly number[], after: readonly number[]): number {
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count + ADDED, 0);
  const [all, most] = [sum(before), sum(after)];
  return before.reduce((total, count, bin) => {
    const [p, q] = [(count + ADDED) / all, (after[bin]! + ADDED) / most];
    return total + (q - p) * Math.log(q / p);
  }, 0);
}

/**
 * The index of two samples of one distribution is above it in one of a thousand cases at most: under that assumption
 * index / (1 / n + 1 / m) has a chi-squared distribution with one degree of freedom fewer than bins (Yurdakul,
 * "Statistical Properties of Population Stability Index", 2018).
 */
export function thresholdOf(bins: number, n: number, m: number, watched = 1): number {
  return Math.max(NO_SHIFT, watched * (CHI_SQUARED_999[bins - 2] ?? 0) * (1 / n + 1 / m));
}

/** The 99.9 % quantiles of the chi-squared distribution with 1, 2, ... 31 degrees of freedom. */
// biome-ignore format: table
const CHI_SQUARED_999 = [
  10.828, 13.816, 16.266, 18.467, 20.515, 22.458, 24.322, 26.124, 27.877, 29.588,
  31.264, 32.909, 34.528, 36.123, 37.697, 39.252, 40.790, 42.312, 43.820, 45.315,
  46.797, 48.268, 49.728, 51.179, 52.620, 54.052, 55.476, 56.892, 58.301, 59.703, 61.098,
];
