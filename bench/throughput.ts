/** Measures how fast batches are registered: against the database's maximum, and while messages are delivered. */
import { type Bar, number } from './bars.ts';
import { Figures } from './figures.ts';
import { median } from './phase.ts';
import { type Phase, type PhaseFigures, Stage } from './stage.ts';

/** A cap that no run reaches. */
const CAP = 1_000_000_000;

const PHASES: readonly Phase[] = [
  // Like the service: two statements at once, of four batches each.
  { name: 'ceiling: 100 each, 4 a statement', on: 'ceiling', concurrency: 2, size: 100, together: 4 },
  { name: 'service: 100 each, concurrency 16', on: 'empty', concurrency: 16, size: 100 },
  { name: 'service: 100 each, concurrency 16, capped', on: 'empty', concurrency: 16, size: 100, cap: CAP },
  { name: 'service: 100 each, concurrency 1', on: 'empty', concurrency: 1, size: 100 },
  { name: 'ceiling: 1 each, 64 connections', on: 'ceiling', concurrency: 64, size: 1 },
  { name: 'service: 1 each, concurrency 64', on: 'empty', concurrency: 64, size: 1 },
  { name: 'service: 1 each, concurrency 16', on: 'empty', concurrency: 16, size: 1 },
  { name: 'service: 1 each, concurrency 1', on: 'empty', concurrency: 1, size: 1 },
  { name: 'delivering: 100 each, concurrency 16', on: 'delivering', concurrency: 16, size: 100 },
];

interface ThroughputOptions {
  /** Seconds of a phase. */
  readonly seconds: number;
  readonly rounds: number;
  /** Only phases whose name contains this text. */
  readonly only: string;
}

/** Measures the chosen phases in interleaved rounds, prints them, and returns their bars. */
export async function benchThroughput({ seconds, rounds, only }: ThroughputOptions): Promise<Bar[]> {
  const chosen = PHASES.filter(({ name }) => name.includes(only));
  if (chosen.length === 0) return bars(new Figures(), []);
  const stage = await Stage.start(chosen, seconds * 1000);
  const figures = new Figures();
  const alone: number[] = [];
  // Warms up compilers and caches.
  for (const phase of chosen) await stage.run(phase);
  stage.meanwhile.length = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const phase of chosen) figures.add(phase.name, await stage.run(phase));
    const rate = await stage.deliverAlone();
    if (rate !== null) alone.push(rate);
  }
  await stage.stop();
  print(chosen, figures);
  if (stage.meanwhile.length > 0) {
    console.log(`delivering meanwhile: ${number(median(stage.meanwhile))} messages/s`);
  }
  return bars(figures, alone);
}

function print(phases: readonly Phase[], figures: Figures): void {
  for (const { name } of phases) {
    const value = (figure: keyof PhaseFigures, digits: number) => {
      const median = figures.median(name, figure);
      return median === null ? '-' : number(median, digits);
    };
    console.log(
      `${name.padEnd(48)}${value('applicationsPerSecond', 0).padStart(9)} applications/s   ` +
        `p50 ${value('p50', 2)} ms   p99 ${value('p99', 2)} ms   an application: CPU of the service ` +
        `${value('serviceCpu', 1)} us, of PostgreSQL ${value('postgresCpu', 1)} us, WAL ${value('wal', 0)} bytes`,
    );
  }
}

function bars(figures: Figures, alone: readonly number[]): Bar[] {
  const batches = 'service: 100 each, concurrency 16';
  const capped = `${batches}, capped`;
  const [p50, p99] = [figures.median(batches, 'p50'), figures.median(batches, 'p99')];
  const atLeast = (bound: number, name: string, over: string, under: string): Bar => {
    return { name, figure: figures.ratio(over, under), direction: 'at least', bound };
  };
  return [
    // The difference is the service's own CPU, which shares the cores.
    atLeast(0.3, 'of the ceiling, 100 each, concurrency 16', batches, 'ceiling: 100 each, 4 a statement'),
    atLeast(0.8, 'capped against uncapped', capped, batches),
    atLeast(
      4,
      '1 each at 64 against one statement a request',
      'service: 1 each, concurrency 64',
      'ceiling: 1 each, 64 connections',
    ),
    atLeast(
      0.85,
      'delivering flat out against not delivering',
      'delivering: 100 each, concurrency 16',
      batches,
    ),
    {
      name: 'delivering alone',
      figure: alone.length === 0 ? null : median(alone),
      direction: 'at least',
      bound: 10_000,
      unit: 'messages/s',
    },
    {
      name: 'p99 against p50, 100 each, concurrency 16',
      figure: p50 === null || p99 === null ? null : p99 / p50,
      direction: 'at most',
      bound: 3,
    },
  ];
}
