/** The figures of a run, which the page shows and the JSON has. */
import type { Slope } from '../heap.ts';
import type { Ran } from '../run.ts';
import type { Watch } from '../watch.ts';
import { quantile } from './series.ts';

export interface Reported extends Omit<Ran, 'watch' | 'violations'> {
  readonly watch: Pick<Watch, 'memory' | 'waiting' | 'slowest' | 'latenessMs'>;
  readonly seed: number;
  readonly minutes: number;
  /** The command that repeats the run. */
  readonly again: string;
  readonly slopes: readonly Slope[];
}

export type Figures = ReturnType<typeof figuresOf>;

/** The figures of a run, as JSON. Times are in milliseconds. */
export function figuresOf({ recorder, watch, promises, counts, slopes, ...reported }: Reported) {
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
