/**
 * Measures a service with a thousand partitions, as after two years of 10 million applications a day, against one with
 * two. Both take the same load in turn. The partitions before the one in use are empty: what is measured is their
 * number.
 */
import { addPartitions } from '../test/support/many-partitions.ts';
import { type Bar, number } from './bars.ts';
import { CostMeter } from './costs.ts';
import { type Delivering, startDelivering } from './delivering.ts';
import { type Measured, median, worker } from './phase.ts';

const NAME = 'partitions';
const PARTITIONS = 1_000;
const LOADS = [
  { name: '100 each, concurrency 16', concurrency: 16, size: 100 },
  { name: '1 each, concurrency 64', concurrency: 64, size: 1 },
] as const;
/** Keeps the applicants of the slots apart. */
let stream = 1;

interface Options {
  /** Seconds of a phase. */
  readonly seconds: number;
  readonly rounds: number;
  readonly only: string;
}

interface Side {
  readonly name: string;
  readonly delivering: Delivering;
  readonly meter: CostMeter;
}

/** What an application or a message takes of the CPU of service and PostgreSQL together, by side and load. */
type Figures = Map<string, number[]>;

/** Measures in interleaved rounds, prints the medians and returns the bars. Makes the partitions first. */
export async function benchPartitions({ seconds, rounds, only }: Options): Promise<Bar[]> {
  if (!NAME.includes(only) || process.platform !== 'linux') return [];
  const few = await sideOf('2 partitions');
  const many = await sideOf(`${PARTITIONS} partitions`);
  await makePartitions(many);
  const loader = worker<object, Measured>('./load.ts');
  const [cpu, rates]: [Figures, Figures] = [new Map(), new Map()];
  const add = (figures: Figures, key: string, value: number) =>
    figures.set(key, [...(figures.get(key) ?? []), value]);
  const slot = async (side: Side, isCounted: boolean) => {
    for (const { name, ...load } of LOADS) {
      const { url, apiKey } = side.delivering.service;
      const ms = seconds * 1000;
      const { result, costs } = await side.meter.during(
        () => loader.run({ ...load, ms, stream: stream++, url, apiKey }),
        ({ applicationsPerSecond }) => applicationsPerSecond * seconds,
      );
      if (!isCounted) continue;
      add(cpu, `${side.name}: ${name}`, costs.serviceCpu + costs.postgresCpu);
      add(rates, `${side.name}: ${name}`, result.applicationsPerSecond);
    }
    const { result, costs } = await side.meter.during(
      () => side.delivering.alone(seconds * 1000),
      (messagesPerSecond) => messagesPerSecond * seconds,
    );
    if (!isCounted) return;
    add(cpu, `${side.name}: delivery`, costs.serviceCpu + costs.postgresCpu);
    add(rates, `${side.name}: delivery`, result);
  };
  for (let round = -1; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? [few, many] : [many, few]) await slot(side, round >= 0);
  }
  loader.stop();
  await Promise.all([few, many].map(({ delivering }) => delivering.service.stop()));
  for (const [key, values] of rates) {
    console.log(
      `${key.padEnd(48)}${number(median(values)).padStart(9)} a second   CPU ${number(median(cpu.get(key) ?? []), 1)} us each`,
    );
  }
  return [...LOADS.map(({ name }) => name), 'delivery'].map((name) => ({
    name: `CPU with ${PARTITIONS} partitions against 2: ${name}`,
    figure: median(cpu.get(`${many.name}: ${name}`) ?? []) / median(cpu.get(`${few.name}: ${name}`) ?? []),
    direction: 'at most',
    bound: 1.1,
  }));
}

/** Messages that wait before each measurement, and how long it delivers. */
const BACKLOG = 120_000;
const DELIVER_MS = 8_000;
const WAITING = 'SELECT coalesce(sum(cardinality(positions)), 0)::integer AS count FROM outbox';

/**
 * Prints how many messages a service delivers that has so many partitions more, in turn with one that has none more.
 * Each count is a multiple of 100. The bar is for the largest count.
 */
export async function benchDeliveryAt(counts: readonly number[], rounds: number): Promise<Bar[]> {
  const [few, many] = [await startDelivering(), await startDelivering()];
  const loader = worker<object, Measured>('./load.ts');
  const rate = async ({ service, alone }: Delivering) => {
    const waiting = async () => (await service.admin.query(WAITING)).rows[0].count as number;
    const load = { concurrency: 16, size: 100, ms: 1_000, url: service.url, apiKey: service.apiKey };
    while ((await waiting()) < BACKLOG) await loader.run({ ...load, stream: stream++ });
    return alone(DELIVER_MS);
  };
  let made = 0;
  let share = 0;
  for (const count of counts.toSorted((a, b) => a - b)) {
    await addPartitions(many.service.connectionString, count - made);
    made = count;
    const rates = new Map<Delivering, number[]>([few, many].map((side) => [side, []]));
    // The first round warms up compilers, caches and the senders' credit.
    for (let round = -1; round < rounds; round += 1) {
      for (const side of round % 2 === 0 ? [few, many] : [many, few]) {
        const figure = await rate(side);
        if (round >= 0) rates.get(side)?.push(figure);
      }
    }
    const [of0, ofMany] = [few, many].map((side) => median(rates.get(side) ?? [])) as [number, number];
    share = ofMany / of0;
    console.log(
      `${made} partitions more: ${number(ofMany)} messages a second, ${number(of0)} without, ${number(share, 2)}`,
    );
  }
  loader.stop();
  await Promise.all([few, many].map(({ service }) => service.stop()));
  return [
    {
      name: `messages/s with ${made} partitions more, against none more`,
      figure: share,
      direction: 'at least',
      bound: 0.8,
    },
  ];
}

async function sideOf(name: string): Promise<Side> {
  const delivering = await startDelivering();
  const meter = await CostMeter.of(delivering.service);
  if (meter === null) throw new Error('this measurement reads /proc, which only Linux has');
  return { name, delivering, meter };
}

async function makePartitions({ delivering }: Side): Promise<void> {
  const { admin } = delivering.service;
  for (let made = 0; made < PARTITIONS; ) {
    await admin.query("SELECT setval('batch_numbers', partitions_end) FROM elapsed");
    await admin.query('SELECT make_batch_partitions(), close_segments(1048576)');
    const { rows } = await admin.query('SELECT partitions_end / partition_width() AS made FROM elapsed');
    made = Number(rows[0].made);
  }
  await admin.query('UPDATE closed_segments SET in_buckets = true, may_have_surplus = false');
  await admin.query('CHECKPOINT');
}
