/**
 * Overload: an open loop at a multiple of the closed loop's rate. Every request must be answered or refused in time,
 * the throughput must stay near the maximum, and the service must recover soon after (D37).
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bar, number } from './bars.ts';
import type { Flood, FloodResult } from './flood.ts';
import { worker } from './phase.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

const NAME = 'overload';
const MS = 6_000;
const RECOVERY_MS = 4_000;
/** The loop stays open while it has a free connection. The service takes about as many connections. */
const CONNECTIONS = 2_000;
const LOADS = [
  { size: 100, concurrency: 16 },
  { size: 1, concurrency: 64 },
] as const;
const TIMES = [3, 5];
/** More than one process can accept, on three times the connections that it takes. */
const FLOODS = [
  { size: 100, concurrency: 16, perSecond: 4_400 },
  { size: 1, concurrency: 64, perSecond: 30_000 },
] as const;
const FLOOD_CONNECTIONS = 6_000;
/** The most bytes of memory that the process may gain, a few seconds later. */
const MORE_BYTES = 128 * 1024 * 1024;

/** Measures the loads with `only` in their names, prints what became of the requests, and returns the bars. */
export async function benchOverload({ only }: { only: string }): Promise<Bar[]> {
  const loads = LOADS.flatMap((load) =>
    TIMES.map((times) => ({ ...load, times, name: `${NAME}, ${load.size} each, ${times} times` })),
  ).filter(({ name }) => name.includes(only));
  const floods = FLOODS.map((load) => ({
    ...load,
    name: `${NAME}, ${load.size} each, ${number(load.perSecond)} a second`,
  })).filter(({ name }) => name.includes(only));
  if (loads.length + floods.length === 0) return [];
  const service = await startServiceProcess();
  const flood = worker<Flood, FloodResult>('./flood.ts');
  const probe = worker<Flood, FloodResult>('./flood.ts');
  let stream = 1;
  const common = { url: service.url, apiKey: service.apiKey };
  const closedLoop = async (size: number, connections: number) =>
    (await flood.run({ ...common, size, connections, perSecond: null, ms: MS / 2, stream: stream++ }))
      .applicationsPerSecond;
  const bars: Bar[] = [];
  for (const { name, size, concurrency, times } of loads) {
    if (times === TIMES[0]) await closedLoop(size, concurrency);
    const before = await closedLoop(size, concurrency);
    const memoryBefore = await memoryOf(service);
    const perSecond = (before / size) * times;
    const [result, recovery] = await Promise.all([
      flood.run({ ...common, size, connections: CONNECTIONS, perSecond, ms: MS, stream: stream++ }),
      sleep(MS).then(() =>
        probe.run({ ...common, size, connections: 50, perSecond: 10, ms: RECOVERY_MS, stream: stream++ }),
      ),
    ]);
    const memoryGained = Math.max((await memoryOf(service)) - memoryBefore, 0);
    // The capacity is measured before and after, because the machine's speed varies.
    const capacity = (before + (await closedLoop(size, concurrency))) / 2;
    console.log(`${name.padEnd(32)}${describe(result, capacity)}`);
    bars.push(...barsOf(name, result, capacity, recovery), {
      name: `${name}: memory gained`,
      figure: memoryGained / 1024 / 1024,
      direction: 'at most',
      bound: MORE_BYTES / 1024 / 1024,
      unit: 'MiB',
    });
  }
  for (const { name, size, concurrency, perSecond } of floods) {
    const before = await closedLoop(size, concurrency);
    const connections = FLOOD_CONNECTIONS;
    const result = await flood.run({ ...common, size, connections, perSecond, ms: MS, stream: stream++ });
    const capacity = (before + (await closedLoop(size, concurrency))) / 2;
    console.log(`${name.padEnd(32)}${describe(result, capacity)}`);
    bars.push(...floodBars(name, result, capacity));
  }
  flood.stop();
  probe.stop();
  await service.stop();
  return bars;
}

/**
 * The bars of a load that no process could accept: all are answered or refused in time, and half of the throughput is
 * left.
 */
function floodBars(name: string, result: FloodResult, capacity: number): Bar[] {
  const { answered, refused, closed } = result;
  const worst = Math.max(...[answered.max, refused.max, closed.max].filter(Number.isFinite));
  const at = (what: string, figure: number, bound: number): Bar => {
    return { name: `${name}: ${what}`, figure, direction: 'at most', bound, unit: 'ms' };
  };
  return [
    at('worst', worst, 10_000),
    at('refusal p99', refused.count === 0 ? 0 : refused.p99, 2_000),
    { name: `${name}: closed`, figure: closed.count, direction: 'at most', bound: 0 },
    {
      name: `${name}: goodput against a closed loop`,
      figure: result.applicationsPerSecond / capacity,
      direction: 'at least',
      bound: 0.5,
    },
  ];
}

function barsOf(name: string, result: FloodResult, capacity: number, recovery: FloodResult): Bar[] {
  const { answered, refused, closed, others } = result;
  const atMost = (what: string, figure: number, bound: number, unit: string): Bar => {
    return { name: `${name}: ${what}`, figure, direction: 'at most', bound, unit };
  };
  return [
    atMost(
      'worst',
      Math.max(...[answered.max, refused.max, closed.max].filter(Number.isFinite)),
      10_000,
      'ms',
    ),
    atMost('refusal p99', refused.count === 0 ? 0 : refused.p99, 1_000, 'ms'),
    atMost(
      'other answers',
      Object.values(others).reduce((sum, count) => sum + count, 0),
      0,
      '',
    ),
    {
      name: `${name}: goodput against a closed loop`,
      figure: result.applicationsPerSecond / capacity,
      direction: 'at least',
      bound: 0.8,
    },
    atMost('recovery', recovery.lastSlowMs, 2_000, 'ms'),
  ];
}

function describe(
  { answered, refused, closed, unsent, applicationsPerSecond }: FloodResult,
  capacity: number,
) {
  const part = (what: string, { count, p50, p99, max }: FloodResult['answered']) =>
    count === 0
      ? `${what} none`
      : `${what} ${number(count)} (p50 ${number(p50)}, p99 ${number(p99)}, worst ${number(max)} ms)`;
  return `${number(applicationsPerSecond)} of ${number(capacity)} applications/s; ${[
    part('answered', answered),
    part('refused', refused),
    part('closed', closed),
  ].join(', ')}; ${number(unsent)} not sent`;
}

async function memoryOf({ pid }: ServiceProcess): Promise<number> {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}
