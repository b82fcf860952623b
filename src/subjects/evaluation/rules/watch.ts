/** What was decided day by day, and for which reasons: counted while applications pass by (D51). Pure. */
import type { Card } from '../../../domain/scorecard/card.ts';
import type { Assessment, Decision, DecisionFacts } from '../../../domain/scorecard/scorecard.ts';

export interface WatchReport {
  readonly applications: number;
  /** The days with applications, oldest first, by the decision of the registration. */
  readonly days: readonly (Readonly<Record<Decision, number>> & { readonly day: string })[];
  /** The decisions of each version, the one that decided last first. */
  readonly versions: readonly (Readonly<Record<Decision, number>> & { readonly version: string })[];
  /** Applications by score, in steps of ten: 0 to 9, ..., 90 to 100. */
  readonly scores: readonly number[];
  /** Applications that have a reason, the most frequent first. */
  readonly reasons: readonly { readonly code: string; readonly count: number }[];
}

const STEPS = 10;

/** The counts of a day or of a version, made at the first use. */
function countsOf(counts: Map<string, Record<Decision, number>>, name: string): Record<Decision, number> {
  let found = counts.get(name);
  if (found === undefined) {
    found = { approved: 0, in_review: 0, rejected: 0 };
    counts.set(name, found);
  }
  return found;
}

/** Counts what was decided. */
export class WatchCounts {
  readonly #days = new Map<string, Record<Decision, number>>();
  /** In the order in which they come: the newest applications first. */
  readonly #versions = new Map<string, Record<Decision, number>>();
  readonly #scores = Array.from({ length: STEPS }, () => 0);
  /** All applications with the same result share it, so reasons are counted at the end. */
  readonly #results = new Map<Assessment, number>();
  #applications = 0;

  /** Counts an application of a day, `YYYY-MM-DD`, that `card` has decided. */
  add(
    day: string,
    card: Card | undefined,
    facts: DecisionFacts,
    decided: { decision: Decision; score: number },
  ): void {
    countsOf(this.#days, day)[decided.decision] += 1;
    if (card !== undefined) countsOf(this.#versions, card.version)[decided.decision] += 1;
    this.#applications += 1;
    this.#scores[Math.min(STEPS - 1, Math.floor(decided.score / STEPS))]! += 1;
    if (card === undefined || decided.decision === 'approved') return;
    const result = card.decide(facts);
    this.#results.set(result, (this.#results.get(result) ?? 0) + 1);
  }

  report(): WatchReport {
    const reasons = new Map<string, number>();
    for (const [{ reasons: codes }, count] of this.#results)
      for (const code of codes) reasons.set(code, (reasons.get(code) ?? 0) + count);
    return {
      applications: this.#applications,
      days: [...this.#days]
        .map(([day, counts]) => ({ day, ...counts }))
        .toSorted((a, b) => (a.day < b.day ? -1 : 1)),
      versions: [...this.#versions].map(([version, counts]) => ({ version, ...counts })),
      scores: this.#scores,
      reasons: [...reasons]
        .map(([code, count]) => ({ code, count }))
        .toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1)),
    };
  }
}
