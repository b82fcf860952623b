/** Whether memory comes back after floods, and whether the heap of a process that lives long grows. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from './faults/attacks.ts';
import type { Scene } from './faults/fault.ts';
import { attack } from './faults/floods.ts';
import type { Promises } from './promises.ts';
import type { MemorySample } from './watch.ts';

const FLOODS: readonly Attack[] = [
  'pipelined requests of clients that leave',
  'large webhooks without a signature',
  'a flood of batches by one partner',
];
const BACK_WITHIN_MS = 30_000;
/** How much more memory a service may hold after a flood than before. */
const MORE_MIB = 300;

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

/** Floods the services, and waits until their memory is back. */
export async function checkMemory(scene: Scene): Promise<void> {
  const { stage, promises } = scene;
  const used = () => stage.services.map(({ program }) => program.memory ?? 0);
  const before = used();
  for (const flood of FLOODS) await attack(scene, flood);
  const from = performance.now();
  const isBack = () => used().every((mib, index) => mib < before[index]! + MORE_MIB);
  while (!isBack() && performance.now() - from < BACK_WITHIN_MS) await sleep(200);
  const shown = (mib: readonly number[]) => mib.map(Math.round).join(' and ');
  promises.hold('memory', isBack(), () => `${shown(before)} MiB before, ${shown(used())} after`);
}

/** The slopes of all lives that are long enough; holds the promise of the heap for each. */
export function checkHeap(samples: readonly MemorySample[], promises: Promises): Slope[] {
  const lives = Map.groupBy(samples, ({ process, pid }) => `${process} ${pid}`);
  return [...lives.values()].flatMap((life) => {
    const slope = slopeOf(life);
    if (slope === null) return [];
    const { process, mibAnHour } = slope;
    const isFlat = mibAnHour < MOST_MIB_AN_HOUR;
    promises.hold('heap', isFlat, () => `${process}: ${mibAnHour.toFixed(1)} MiB an hour`);
    return [slope];
  });
}

/** The straight line through the least heap of each window; null for a short life. */
function slopeOf(life: readonly MemorySample[]): Slope | null {
  const [first] = life;
  const last = life.at(-1);
  if (first === undefined || last === undefined || last.atMs - first.atMs < LEAST_LIFE_MS) return null;
  const warm = life.filter(({ atMs, heapMiB }) => heapMiB !== null && atMs - first.atMs > WARM_AFTER_MS);
  const windows = Map.groupBy(warm, ({ atMs }) => Math.floor(atMs / WINDOW_MS));
  const points = [...windows].map(([window, inside]) => ({
    hours: (window * WINDOW_MS) / 3_600_000,
    mib: Math.min(...inside.map(({ heapMiB }) => heapMiB!)),
  }));
  const mean = (pick: (point: (typeof points)[number]) => number) =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [meanHours, meanMib] = [mean(({ hours }) => hours), mean(({ mib }) => mib)];
  const along = mean(({ hours, mib }) => (hours - meanHours) * (mib - meanMib));
  const spread = mean(({ hours }) => (hours - meanHours) ** 2);
  const minutes = (last.atMs - first.atMs) / 60_000;
  return { process: first.process, minutes, mibAnHour: spread === 0 ? 0 : along / spread };
}
