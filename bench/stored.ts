/**
 * Measures a full store against an empty one. Both take the same load in turn, over a whole checkpoint cycle of the
 * full store: from the full page images after a checkpoint to the next checkpoint.
 */
import { type Bar, number } from './bars.ts';
import { CostMeter, type Costs } from './costs.ts';
import { fillStore } from './fill.ts';
import { type Measured, median, worker } from './phase.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

const LOAD = { concurrency: 16, size: 100 };
/** Keeps the applicants of the slots apart. */
let stream = 1;
const SLOT_MS = 2_500;
/** Milliseconds of load that count as "right after a checkpoint". */
const FRESH_MS = 10_000;
/** The slots of the longest cycle. A longer cycle is cut. */
const MAX_SLOTS = 30;

type Slot = Measured & Costs;

/**
 * Fills a store with so many applications, drives it over a checkpoint cycle beside an empty store and prints the
 * costs. Repeats that with more applications, for each number. Returns the bars.
 */
export async function benchStored(numbers: readonly number[]): Promise<Bar[]> {
  const [empty, full] = [await startServiceProcess(), await startServiceProcess()];
  const bars: Bar[] = [];
  for (const [index, stored] of numbers.entries()) {
    const added = stored - (numbers[index - 1] ?? 0);
    bars.push(...(await measure({ empty, full }, stored, added)));
  }
  await Promise.all([empty.stop(), full.stop()]);
  return bars;
}

interface Services {
  readonly empty: ServiceProcess;
  readonly full: ServiceProcess;
}

async function measure({ empty, full }: Services, stored: number, added: number): Promise<Bar[]> {
  const start = performance.now();
  await fillStore(full.admin, added);
  const filledBytes = await sizeOf(full);
  console.log(
    `filled with ${number(stored)} applications in ${number((performance.now() - start) / 1000)} s: ` +
      `${number(filledBytes / stored)} bytes of disk each`,
  );
  const slots = await driveCycle(empty, full);
  const grownBytes = (await sizeOf(full)) - filledBytes;
  return report(slots, filledBytes / stored, grownBytes).map((bar) => {
    return { ...bar, name: `${number(stored)} stored: ${bar.name}` };
  });
}

interface Slots {
  readonly empty: readonly Slot[];
  readonly full: readonly Slot[];
}

async function driveCycle(empty: ServiceProcess, full: ServiceProcess): Promise<Slots> {
  const loader = worker<object, Measured>('./load.ts');
  const meters = { empty: await meterOf(empty), full: await meterOf(full) };
  const slot = async (which: 'empty' | 'full'): Promise<Slot> => {
    const { url, apiKey } = which === 'empty' ? empty : full;
    const { result, costs } = await meters[which].during(
      () => loader.run({ ...LOAD, ms: SLOT_MS, stream: stream++, url, apiKey }),
      ({ applicationsPerSecond }) => (applicationsPerSecond * SLOT_MS) / 1000,
    );
    return { ...result, ...costs };
  };
  // Warms up compilers and caches.
  for (const which of ['empty', 'full', 'empty', 'full'] as const) await slot(which);
  const slots: { empty: Slot[]; full: Slot[] } = { empty: [], full: [] };
  await full.admin.query('CHECKPOINT');
  const begin = await redoOf(full);
  while (slots.full.length < MAX_SLOTS) {
    slots.empty.push(await slot('empty'));
    slots.full.push(await slot('full'));
    if ((await redoOf(full)) !== begin) break;
  }
  loader.stop();
  return slots;
}

async function meterOf(service: ServiceProcess): Promise<CostMeter> {
  const meter = await CostMeter.of(service);
  if (meter === null) throw new Error('this measurement reads /proc, which only Linux has');
  return meter;
}

/** The start of the last finished checkpoint. Pages that changed since then had a full image written. */
async function redoOf(service: ServiceProcess): Promise<string> {
  return (await service.admin.query('SELECT redo_lsn::text AS redo FROM pg_control_checkpoint()')).rows[0]
    .redo;
}

async function sizeOf(service: ServiceProcess): Promise<number> {
  const { rows } = await service.admin.query('SELECT pg_database_size(current_database())::float8 AS bytes');
  return rows[0].bytes;
}

function report({ empty, full }: Slots, filledBytes: number, grownBytes: number): Bar[] {
  const fresh = full.slice(0, FRESH_MS / SLOT_MS);
  const rate = (slots: readonly Slot[]) => mean(slots, 'applicationsPerSecond');
  const registered = (rate(full) * full.length * SLOT_MS) / 1000;
  print('empty store', empty);
  print('full store, whole cycle', full);
  print(`full store, first ${FRESH_MS / 1000} s after a checkpoint`, fresh);
  console.log(`disk an application registered meanwhile: ${number(grownBytes / registered)} bytes`);
  return [
    {
      name: 'full store against empty, whole cycle',
      figure: rate(full) / rate(empty),
      direction: 'at least',
      bound: 0.95,
    },
    {
      name: 'PostgreSQL CPU right after a checkpoint, against the empty store',
      figure: mean(fresh, 'postgresCpu') / mean(empty, 'postgresCpu'),
      direction: 'at most',
      bound: 1.15,
    },
    {
      name: 'write-ahead log, whole cycle',
      figure: mean(full, 'wal'),
      direction: 'at most',
      bound: 1_200,
      unit: 'bytes',
    },
    {
      name: 'write-ahead log, right after a checkpoint',
      figure: mean(fresh, 'wal'),
      direction: 'at most',
      bound: 2_500,
      unit: 'bytes',
    },
    {
      name: 'disk, of the whole store',
      figure: filledBytes,
      direction: 'at most',
      bound: 300,
      unit: 'bytes',
    },
  ];
}

/** The mean over applications, not over slots. */
function mean(slots: readonly Slot[], figure: keyof Slot): number {
  if (figure === 'applicationsPerSecond') {
    return slots.reduce((sum, slot) => sum + slot.applicationsPerSecond, 0) / slots.length;
  }
  const total = slots.reduce((sum, slot) => sum + slot.applicationsPerSecond, 0);
  return slots.reduce((sum, slot) => sum + slot[figure] * slot.applicationsPerSecond, 0) / total;
}

function print(name: string, slots: readonly Slot[]): void {
  console.log(
    `${name.padEnd(44)}${number(mean(slots, 'applicationsPerSecond')).padStart(9)} applications/s in ${slots.length} slots   ` +
      `p99 ${number(median(slots.map(({ p99 }) => p99)), 1)} ms   an application: CPU of the service ` +
      `${number(mean(slots, 'serviceCpu'), 1)} us, of PostgreSQL ${number(mean(slots, 'postgresCpu'), 1)} us, ` +
      `WAL ${number(mean(slots, 'wal'))} bytes`,
  );
}
