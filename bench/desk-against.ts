/** Measures registrations beside the queue of the review desk against another checkout: whole services, in turn. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bar, number } from './bars.ts';
import { CostMeter } from './costs.ts';
import { type Measured, median, worker } from './phase.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

const SLOT_MS = 4_000;
const LOAD = { concurrency: 16, size: 100 };
/** The loops run, and hardly anything is sent: it is about registrations. */
const DELIVERING = { DELIVERY: 'on', MESSAGES_PER_SECOND: '1' };
const WAITS = 'SELECT count(*)::integer AS batches FROM review_queue WHERE NOT is_expanded';

/** Waits until the queue is whole. Resolves to the batches that had no items before, and the seconds it took. */
async function drained({ admin }: ServiceProcess): Promise<{ batches: number; seconds: number }> {
  const begunMs = performance.now();
  const waiting = async (): Promise<number> => (await admin.query(WAITS)).rows[0].batches;
  const batches = await waiting();
  while ((await waiting()) > 0) await sleep(250);
  return { batches, seconds: (performance.now() - begunMs) / 1_000 };
}

/** Drives both in turn, `rounds` slots each. Returns the bar. */
export async function deskAgainst(folder: string, rounds: number): Promise<Bar[]> {
  const services = {
    other: await startServiceProcess(DELIVERING, folder),
    own: await startServiceProcess(DELIVERING),
  };
  const loader = worker<object, Measured>('./load.ts');
  let stream = 1;
  const slot = async ({ url, apiKey }: ServiceProcess) =>
    (await loader.run({ ...LOAD, ms: SLOT_MS, stream: stream++, url, apiKey })).applicationsPerSecond;
  const rates: { other: number[]; own: number[] } = { other: [], own: [] };
  const cpu: { other: number[]; own: number[] } = { other: [], own: [] };
  const left: { batches: number; seconds: number }[] = [];
  for (const service of Object.values(services)) await slot(service);
  for (let round = 0; round < rounds; round += 1) {
    // Who begins takes turns too: a machine's speed drifts.
    for (const which of round % 2 === 0 ? (['other', 'own'] as const) : (['own', 'other'] as const)) {
      const meter = await CostMeter.of(services[which]);
      if (meter === null) throw new Error('this measurement reads /proc, which only Linux has');
      const { result, costs } = await meter.during(
        () => slot(services[which]),
        (rate) => (rate * SLOT_MS) / 1_000,
      );
      // Not a part of the costs: what else PostgreSQL does meanwhile would be.
      if (which === 'own') left.push(await drained(services.own));
      rates[which].push(result);
      cpu[which].push(costs.serviceCpu + costs.postgresCpu);
    }
  }
  loader.stop();
  for (const service of Object.values(services)) await service.stop();
  for (const which of ['other', 'own'] as const) {
    console.log(
      `${which.padEnd(6)} ${number(median(rates[which]))} applications/s, an application ${number(median(cpu[which]), 1)} us of CPU (medians of ${rounds})`,
    );
  }
  console.log(
    `batches without items at the end of a slot: ${number(median(left.map(({ batches }) => batches)))}; the queue was whole ${number(median(left.map(({ seconds }) => seconds)), 1)} s later`,
  );
  const ratios = rates.own.map((rate, n) => rate / rates.other[n]!);
  return [
    {
      name: 'registrations against the other checkout',
      ...{ figure: median(ratios), direction: 'at least', bound: 0.97 },
    },
  ];
}
