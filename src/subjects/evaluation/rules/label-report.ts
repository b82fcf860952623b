/**
 * How well the scores of a policy tell applications that came out well from those that came out badly (D51). Counts by
 * score, which is a whole number from 0 to 100, so the figures are exact in constant memory. Pure.
 */
import { DECISIONS, type Decision } from '../../../domain/scorecard/scorecard.ts';
import { counted } from '../../../ground/base/counted.ts';
import { type BacktestReport, wilson } from './backtest-report.ts';

/**
 * What an application is labelled by. `loans`: the loan went bad (imported). `reviews`: a reviewer rejected it.
 * `incomes`: the observed income is too far below the declared one. `signatures`: the signed contract was withdrawn.
 */
export type LabelKind = 'loans' | 'reviews' | 'incomes' | 'signatures';

/** What people read. */
export const LABEL_TITLES: Readonly<Record<LabelKind, string>> = {
  loans: 'Loans that went bad (imported)',
  reviews: 'Rejected by a reviewer, of those in review',
  incomes: 'Observed income below the declared one',
  signatures: 'Signed contracts that were withdrawn',
};

/** Labelled applications of a range of scores, or of a decision. */
export interface LabelledBand {
  readonly name: string;
  readonly labelled: number;
  readonly bad: number;
  /** The share of bad ones with its 95 % interval (Wilson). */
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** A figure of the scores before and of those of the policy that is tried; null: all are good, or all are bad. */
interface Both {
  readonly before: number | null;
  readonly after: number | null;
}

export interface LabelReport {
  readonly kind: LabelKind;
  readonly labelled: number;
  readonly bad: number;
  readonly gini: Both;
  readonly ks: Both;
  /** By the score of the policy that is tried, ten points each, without those that nobody is in. */
  readonly bands: readonly LabelledBand[];
  /** By the decision of the policy that is tried. */
  readonly decisions: readonly LabelledBand[];
  /** Applications that were rejected and have a label. */
  readonly rejected: number;
}

const SCORES = 101;
const BAND = 10;

/**
 * The Gini coefficient: 2 AUC - 1, where AUC is the probability that a good application has a higher score than a bad
 * one, and half of it where both have the same: U / (n m) of Mann and Whitney (1947; Hanley and McNeil, "The Meaning
 * and Use of the Area under a ROC Curve", 1982). 1: every good one is above every bad one; 0: the score tells nothing.
 * `good` and `bad` count by score. null where there are none of one sort.
 */
export function gini(good: ArrayLike<number>, bad: ArrayLike<number>): number | null {
  let [badBelow, goods, above] = [0, 0, 0];
  for (let score = 0; score < good.length; score += 1) {
    above += good[score]! * (badBelow + bad[score]! / 2);
    badBelow += bad[score]!;
    goods += good[score]!;
  }
  return goods === 0 || badBelow === 0 ? null : (2 * above) / (goods * badBelow) - 1;
}

/**
 * The statistic of Kolmogorov and Smirnov for two samples: the largest difference of their distribution functions, here
 * the shares of the bad and of the good ones at or below a score (Thomas, Edelman, Crook, "Credit Scoring and Its
 * Applications", 2002, section 7.4). null where there are none of one sort.
 */
export function kolmogorovSmirnov(good: ArrayLike<number>, bad: ArrayLike<number>): number | null {
  const sum = (counts: ArrayLike<number>) => Array.from(counts).reduce((total, some) => total + some, 0);
  const [goods, bads] = [sum(good), sum(bad)];
  if (goods === 0 || bads === 0) return null;
  let [goodBelow, badBelow, most] = [0, 0, 0];
  for (let score = 0; score < good.length; score += 1) {
    goodBelow += good[score]!;
    badBelow += bad[score]!;
    most = Math.max(most, Math.abs(badBelow / bads - goodBelow / goods));
  }
  return most;
}

/** Good and bad ones by score. */
const newCounts = () => ({ good: new Float64Array(SCORES), bad: new Float64Array(SCORES) });

/** Counts the labels of one kind. */
export class LabelCount {
  readonly #before = newCounts();
  readonly #after = newCounts();
  readonly #decisions = new Map(DECISIONS.map((decision) => [decision, { labelled: 0, bad: 0 }]));
  #rejected = 0;

  add(
    isBad: boolean,
    before: { readonly score: number; readonly decision: Decision },
    after: { readonly score: number; readonly decision: Decision },
  ): void {
    const sort = isBad ? 'bad' : 'good';
    this.#before[sort][before.score]! += 1;
    this.#after[sort][after.score]! += 1;
    const decision = this.#decisions.get(after.decision)!;
    decision.labelled += 1;
    if (isBad) decision.bad += 1;
    if (before.decision === 'rejected') this.#rejected += 1;
  }

  report(kind: LabelKind): LabelReport {
    const [before, after] = [this.#before, this.#after];
    const bands = Array.from({ length: SCORES / BAND }, (_, band) => bandOf(after, band));
    const decisions = DECISIONS.map((decision) => labelled(decision, this.#decisions.get(decision)!));
    const total = bands.reduce(
      (sum, one) => ({ labelled: sum.labelled + one.labelled, bad: sum.bad + one.bad }),
      {
        ...{ labelled: 0, bad: 0 },
      },
    );
    return {
      kind,
      ...total,
      gini: { before: gini(before.good, before.bad), after: gini(after.good, after.bad) },
      ks: {
        before: kolmogorovSmirnov(before.good, before.bad),
        after: kolmogorovSmirnov(after.good, after.bad),
      },
      bands: bands.filter((one) => one.labelled > 0),
      decisions: decisions.filter((one) => one.labelled > 0),
      rejected: this.#rejected,
    };
  }
}

/** The last band has the score 100 too. */
function bandOf({ good, bad }: ReturnType<typeof newCounts>, band: number): LabelledBand {
  const from = band * BAND;
  const to = from + BAND >= SCORES - 1 ? SCORES - 1 : from + BAND - 1;
  const sum = (counts: Float64Array) =>
    counts.subarray(from, to + 1).reduce((total, some) => total + some, 0);
  const bads = sum(bad);
  return labelled(`${from} to ${to}`, { labelled: sum(good) + bads, bad: bads });
}

function labelled(name: string, { labelled: all, bad }: { labelled: number; bad: number }): LabelledBand {
  if (all === 0) return { name, labelled: 0, bad: 0, rate: 0, low: 0, high: 1 };
  const [low, high] = wilson(bad, all);
  return { name, labelled: all, bad, rate: bad / all, low, high };
}

/** What the figures of a label do not tell: `Of 4000 applications 1200 have this label …`. */
export function labelWarning(
  { labelled: all, rejected }: Pick<LabelReport, 'labelled' | 'rejected'>,
  { applications, matrix }: Pick<BacktestReport, 'applications' | 'matrix'>,
): string {
  const refused = DECISIONS.reduce((sum, after) => sum + matrix.rejected[after], 0);
  return (
    `Of ${counted(applications, 'application')} ${all} have this label, and ${rejected} of the ${refused} that were rejected: ` +
    'what would have become of the others nobody knows, so the figures hold for those who were taken.'
  );
}
