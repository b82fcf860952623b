/** What happened in each step of time: answers by their end, registrations, and how long answers took. */
import type { Recorder } from '../recorder.ts';

type Point = readonly [seconds: number, value: number];

/** A line of a plot. */
export interface Line {
  readonly name: string;
  readonly points: readonly Point[];
}

/** As many steps fit the width of a plot. */
const STEPS = 300;

export interface Series {
  readonly registered: Line[];
  readonly answers: Line[];
  readonly latencies: Line[];
}

export function seriesOf({ seen }: Recorder, lengthMs: number): Series {
  const stepMs = Math.max(1_000, Math.ceil(lengthMs / STEPS / 1_000) * 1_000);
  const steps = Math.max(1, Math.ceil(lengthMs / stepMs));
  const inSteps = Map.groupBy(seen, ({ atMs }) => Math.floor(atMs / stepMs));
  const line = (name: string, amountOf: (of: typeof seen) => number): Line => ({
    name,
    points: Array.from({ length: steps }, (_, step) => [
      (step * stepMs) / 1_000,
      amountOf(inSteps.get(step) ?? []),
    ]),
  });
  const perSecond = (count: number) => (count * 1_000) / stepMs;
  const ends = [...new Set(seen.map(({ end }) => end))].toSorted();
  return {
    registered: [
      line('applications a second', (of) => perSecond(of.reduce((sum, one) => sum + one.registered, 0))),
    ],
    answers: ends.map((end) =>
      line(String(end), (of) => perSecond(of.filter((one) => one.end === end).length)),
    ),
    latencies: [0.5, 0.99].map((share) =>
      line(`p${share * 100}`, (of) =>
        quantile(
          of.filter(({ end }) => end === 200).map(({ ms }) => ms),
          share,
        ),
      ),
    ),
  };
}

/** The value below which this share lies; 0 of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
