/** What the chaos run says of memory: the slope of a heap, and whether memory comes back, by made-up samples. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHeap } from './heap.ts';
import { comesBack } from './memory.ts';
import type { MemorySample } from './watch.ts';

const EVERY_MS = 2_000;
const HOUR_MINUTES = 60;
/** Between two collections the heap grows by this much. */
const GARBAGE_MIB = 100;
const COLLECTED_EVERY_MS = 14_000;

/** The samples of a life whose heap in use is `mibAt`, with garbage that is collected from time to time. */
function life(
  minutes: number,
  mibAt: (minute: number) => number,
  { process = 'service-1', pid = 1, fromMs = 0 } = {},
): MemorySample[] {
  return Array.from({ length: (minutes * 60_000) / EVERY_MS }, (_, place) => {
    const atMs = place * EVERY_MS;
    const garbage = (GARBAGE_MIB * (atMs % COLLECTED_EVERY_MS)) / COLLECTED_EVERY_MS;
    const heapMiB = mibAt(atMs / 60_000) + garbage;
    return { atMs: fromMs + atMs, process, pid, residentMiB: heapMiB + 50, heapMiB };
  });
}

function check(samples: readonly MemorySample[]) {
  const broken: string[] = [];
  const slopes = checkHeap(samples, {
    hold(name, isKept, what) {
      assert.equal(name, 'heap');
      if (!isKept) broken.push(what());
    },
  });
  return { slopes, broken };
}

for (const mibAnHour of [-30, 0, 20, 55, 65, 600]) {
  test(`the slope of a heap that grows by ${mibAnHour} MiB an hour is told`, () => {
    const { slopes, broken } = check(life(HOUR_MINUTES, (minute) => 80 + (mibAnHour * minute) / 60));
    assert.equal(slopes.length, 1);
    const [slope] = slopes;
    assert.ok(Math.abs(slope!.mibAnHour - mibAnHour) < 3, `${slope!.mibAnHour}`);
    assert.equal(Math.round(slope!.minutes), HOUR_MINUTES);
    assert.equal(broken.length, mibAnHour > 60 ? 1 : 0);
  });
}

test('a heap that fills its caches at the beginning does not grow', () => {
  const { slopes, broken } = check(life(HOUR_MINUTES, (minute) => 80 + 60 * Math.min(1, minute)));
  assert.ok(Math.abs(slopes[0]!.mibAnHour) < 3);
  assert.deepEqual(broken, []);
});

test('each life of each process has its own slope, and a short life has none', () => {
  const flat = () => 80;
  const samples = [
    ...life(20, flat),
    ...life(20, (minute) => 80 + 5 * minute, { pid: 2, fromMs: 20 * 60_000 }),
    ...life(5, (minute) => 80 + 50 * minute, { pid: 3, fromMs: 40 * 60_000 }),
    ...life(40, flat, { process: 'worker-1', pid: 4 }),
  ];
  const { slopes, broken } = check(samples);
  assert.deepEqual(
    slopes.map(({ process, mibAnHour }) => [process, Math.round(mibAnHour / 20) * 20]),
    [
      ['service-1', 0],
      ['service-1', 300],
      ['worker-1', 0],
    ],
  );
  assert.match(broken.join(), /^service-1: \d+\.\d MiB an hour$/);
});

test('a process that does not tell its heap at times has the slope of the other times', () => {
  const samples = life(HOUR_MINUTES, (minute) => 80 + minute / 3).map((sample, place) =>
    place % 3 === 0 ? { ...sample, heapMiB: null } : sample,
  );
  assert.ok(Math.abs(check(samples).slopes[0]!.mibAnHour - 20) < 3);
  const silent = samples.map((sample) => ({ ...sample, heapMiB: null }));
  assert.deepEqual(check(silent), { slopes: [], broken: ['service-1: unknown'] });
});

test('memory comes back where each process uses hardly more than before', async () => {
  const before = [200, 300];
  assert.equal(await comesBack(before, () => [450, 550], 0), true);
  assert.equal(await comesBack(before, () => [150, 650], 0), false);
  let looks = 0;
  const slowly = () => [200, looks++ === 0 ? 900 : 400];
  assert.equal(await comesBack(before, slowly, 60_000), true);
  assert.equal(looks, 2);
});
