/** The report of a run: a page with plots that needs nothing from outside, and the same figures as JSON. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Slope } from '../heap.ts';
import type { Ran } from '../run.ts';
import type { Watch } from '../watch.ts';
import { pageOf } from './page.ts';
import { quantile } from './series.ts';

export interface Reported extends Omit<Ran, 'watch' | 'violations'> {
  readonly watch: Pick<Watch, 'memory' | 'waiting' | 'slowest' | 'latenessMs'>;
  readonly seed: number;
  readonly minutes: number;
  /** The command that repeats the run. */
  readonly again: string;
  readonly slopes: readonly Slope[];
}

/** Writes `chaos-SEED.html` and `chaos-SEED.json` into a folder, and gives the path of the page. */
export function writeReport(folder: string, reported: Reported): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `chaos-${reported.seed}.html`);
  const figures = figuresOf(reported);
  writeFileSync(path, pageOf(reported, figures));
  writeFileSync(join(folder, `chaos-${reported.seed}.json`), `${JSON.stringify(figures, null, 2)}\n`);
  return path;
}

export type Figures = ReturnType<typeof figuresOf>;

/** The figures of a run, as JSON. Times are in milliseconds. */
function figuresOf({ recorder, watch, promises, counts, slopes, ...reported }: Reported) {
  const { seed, minutes, again } = reported;
  const ends = Map.groupBy(recorder.seen, ({ end }) => String(end));
  const answered = (ends.get('200') ?? []).map(({ ms }) => ms);
  return {
    ...{ seed, minutes, again },
    isKept: promises.areKept,
    counts: Object.fromEntries(counts),
    acknowledged: recorder.acknowledged,
    answers: Object.fromEntries([...ends].map(([end, of]) => [end, of.length])),
    answerMs: { p50: quantile(answered, 0.5), p99: quantile(answered, 0.99), most: quantile(answered, 1) },
    healthMs: watch.slowest,
    /** Of the timers of the run's own process, the 99th percentile: how busy the machine was. */
    lateMs: watch.latenessMs,
    mostMemoryMiB: Math.max(0, ...watch.memory.map(({ residentMiB }) => residentMiB)),
    heapSlopes: slopes,
    promises: promises.all,
    faults: recorder.marks,
    clockSteps: recorder.clockSteps,
    memory: watch.memory,
    waitingMessages: watch.waiting,
  };
}
