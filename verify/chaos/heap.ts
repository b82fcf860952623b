/** Whether the heap of a process that lives long grows. */
import type { Promises } from './promises.ts';
import type { MemorySample } from './watch.ts';

/** A younger process still fills its caches. */
const WARM_AFTER_MS = 2 * 60_000;
const LEAST_LIFE_MS = 6 * 60_000;
/** V8 collects garbage several times in this time; the least heap of it is what is in use. */
const WINDOW_MS = 30_000;
const MOST_MIB_AN_HOUR = 60;

/** How fast the heap of one life of a process grows. */
export interface Slope {
  readonly process: string;
  readonly minutes: number;
  readonly mibAnHour: number;
}

/** The slopes of all lives that are long enough; holds the promise of the heap for each. */
export function checkHeap(samples: readonly MemorySample[], promises: Pick<Promises, 'hold'>): Slope[] {
  const lives = Map.groupBy(samples, ({ process, pid }) => `${process} ${pid}`);
  return [...lives.values()].flatMap((life) => {
    const [{ process, atMs: fromMs }] = life as [MemorySample];
    const lengthMs = life.at(-1)!.atMs - fromMs;
    if (lengthMs < LEAST_LIFE_MS) return [];
    const mibAnHour = slopeOf(life.filter(({ atMs }) => atMs - fromMs > WARM_AFTER_MS));
    const isFlat = mibAnHour !== null && mibAnHour < MOST_MIB_AN_HOUR;
    const shown = mibAnHour === null ? 'unknown' : `${mibAnHour.toFixed(1)} MiB an hour`;
    promises.hold('heap', isFlat, () => `${process}: ${shown}`);
    return mibAnHour === null ? [] : [{ process, minutes: lengthMs / 60_000, mibAnHour }];
  });
}

/** The straight line through the least heap of each window, in MiB an hour; null where too few are known. */
function slopeOf(warm: readonly MemorySample[]): number | null {
  const known = warm.filter(({ heapMiB }) => heapMiB !== null);
  const windows = Map.groupBy(known, ({ atMs }) => Math.floor(atMs / WINDOW_MS));
  const points = [...windows].map(([window, inside]) => ({
    hours: (window * WINDOW_MS) / 3_600_000,
    mib: Math.min(...inside.map(({ heapMiB }) => heapMiB!)),
  }));
  if (points.length < 2) return null;
  const mean = (pick: (point: (typeof points)[number]) => number) =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [meanHours, meanMib] = [mean(({ hours }) => hours), mean(({ mib }) => mib)];
  const along = mean(({ hours, mib }) => (hours - meanHours) * (mib - meanMib));
  const spread = mean(({ hours }) => (hours - meanHours) ** 2);
  return along / spread;
}
