/**
 * The quiet neighbour: one partner sends a batch of 100 a few times a second while another floods in a closed loop.
 * Measures how long the quiet partner waits, and the throughput of the flood (D37). With a second checkout it measures
 * both in turn, which shows what serving partners in turn costs the flood.
 */
import { type Bar, number } from './bars.ts';
import type { Flood, FloodResult } from './flood.ts';
import { median, worker } from './phase.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

const NAME = 'quiet neighbour';
const SIZE = 100;
const QUIET = { size: SIZE, connections: 50, perSecond: 4 };
/** Connections of the flood. */
const FLOODS = [0, 64, 500];
const MS = 5_000;

interface NeighbourOptions {
  readonly rounds: number;
  readonly only: string;
  /** The folder of the other checkout. */
  readonly against?: string | undefined;
}

/** Measures unless `only` names something else, prints the medians of the rounds, and returns the bars. */
export async function benchNeighbour({ rounds, only, against }: NeighbourOptions): Promise<Bar[]> {
  if (!NAME.includes(only)) return [];
  const here = await Neighbours.start('.');
  const there = against === undefined ? null : await Neighbours.start(against);
  for (let round = 0; round < rounds; round += 1) {
    for (const connections of FLOODS) {
      await here.run(connections);
      await there?.run(connections);
    }
  }
  await here.stop();
  await there?.stop();
  for (const [where, neighbours] of [
    ['', here],
    [', against', there],
  ] as const) {
    for (const connections of neighbours === null ? [] : FLOODS) {
      const name = connections === 0 ? 'idle' : `beside ${connections} connections`;
      console.log(`${`${NAME}, ${name}${where}`.padEnd(48)}${neighbours?.line(connections)}`);
    }
  }
  const lost = (connections: number): Bar => ({
    name: `flood on ${connections} connections, against the other checkout`,
    figure: there === null ? null : here.rate(connections) / there.rate(connections),
    direction: 'at least',
    bound: 0.95,
  });
  return [
    {
      name: 'quiet p99 beside 64 connections, against idle',
      figure: here.p99(64) / here.p99(0),
      direction: 'at most',
      bound: 4,
    },
    {
      name: 'quiet p99 beside 500 connections',
      figure: here.p99(500),
      direction: 'at most',
      bound: 1_500,
      unit: 'ms',
    },
    lost(64),
    lost(500),
  ];
}

/** A service with two partners, and its figures. */
class Neighbours {
  readonly #service: ServiceProcess;
  readonly #keys: { readonly quiet: string; readonly flood: string };
  readonly #quiet = worker<Flood, FloodResult>('./flood.ts');
  readonly #flood = worker<Flood, FloodResult>('./flood.ts');
  readonly #results = new Map(
    FLOODS.map((connections) => [connections, { quiet: [] as FloodResult[], flood: [] as FloodResult[] }]),
  );
  #stream = 1;

  static async start(folder: string): Promise<Neighbours> {
    const service = await startServiceProcess({}, folder);
    const keys = { quiet: await service.addPartner('Quiet'), flood: await service.addPartner('Flood') };
    const neighbours = new Neighbours(service, keys);
    // Warms up compilers and caches.
    await neighbours.#load(16, 2_000);
    return neighbours;
  }

  private constructor(service: ServiceProcess, keys: { quiet: string; flood: string }) {
    this.#service = service;
    this.#keys = keys;
  }

  async run(connections: number): Promise<void> {
    const { url } = this.#service;
    const [quiet, flood] = await Promise.all([
      this.#quiet.run({ ...QUIET, url, apiKey: this.#keys.quiet, ms: MS, stream: this.#stream++ }),
      connections === 0 ? null : this.#load(connections, MS),
    ]);
    const results = this.#of(connections);
    results.quiet.push(quiet);
    if (flood !== null) results.flood.push(flood);
  }

  #load(connections: number, ms: number): Promise<FloodResult> {
    const { url } = this.#service;
    const stream = this.#stream++;
    return this.#flood.run({
      url,
      apiKey: this.#keys.flood,
      size: SIZE,
      connections,
      perSecond: null,
      ms,
      stream,
    });
  }

  /** Milliseconds: the median of the rounds in which every request was answered. */
  p99(connections: number): number {
    const { quiet } = this.#of(connections);
    const all = quiet.every(({ refused, closed }) => refused.count + closed.count === 0);
    return all ? median(quiet.map(({ answered }) => answered.p99)) : Number.NaN;
  }

  /** Applications of the flood a second. */
  rate(connections: number): number {
    return median(this.#of(connections).flood.map((result) => result.applicationsPerSecond));
  }

  line(connections: number): string {
    const { quiet, flood } = this.#of(connections);
    const p50 = median(quiet.map(({ answered }) => answered.p50));
    const waits = `p50 ${number(p50, 1)} ms   p99 ${number(this.p99(connections), 1)} ms`;
    if (connections === 0) return waits;
    const refused = flood.reduce((sum, result) => sum + result.refused.count, 0);
    return `${waits}   flood ${number(this.rate(connections))} applications/s, ${number(refused)} requests refused`;
  }

  async stop(): Promise<void> {
    this.#quiet.stop();
    this.#flood.stop();
    await this.#service.stop();
  }

  #of(connections: number) {
    return this.#results.get(connections) as { quiet: FloodResult[]; flood: FloodResult[] };
  }
}
