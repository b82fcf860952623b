/**
 * How long the message of a partner waits beside 100,000 waiting messages of another one, at the sender's usual rate
 * (D42): from the answer of the registration to the channel's answer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { bodies } from './applicants.ts';
import type { Bar } from './bars.ts';
import { startDelivering } from './delivering.ts';
import { type Measured, median, worker } from './phase.ts';

const NAME = 'backlog';
const BACKLOG = 100_000;
const MESSAGES_PER_SECOND = 80;
const SAMPLES = 20;
/** Between two messages of the other partner. */
const PAUSE_MS = 500;
const LOOK_EVERY_MS = 5;
const GIVE_UP_MS = 60_000;
/** Its applicants are none of the backlog's. */
const STREAM = 999;

const WAITING = 'SELECT coalesce(sum(cardinality(positions)), 0)::integer AS count FROM outbox';
const STATUS = 'SELECT status FROM messages_of(ARRAY[$1::bigint])';

/** Measures unless `only` names something else, prints the waits, and returns the bar. */
export async function benchBacklog({ only }: { readonly only: string }): Promise<Bar[]> {
  if (!NAME.includes(only)) return [];
  const { service, during } = await startDelivering({ MESSAGES_PER_SECOND: `${MESSAGES_PER_SECOND}` });
  const apiKey = await service.addPartner('Quiet');
  const loader = worker<object, Measured>('./load.ts');
  const waiting = async () => (await service.admin.query(WAITING)).rows[0].count as number;
  for (let stream = 1; (await waiting()) < BACKLOG; stream += 1)
    await loader.run({
      concurrency: 16,
      size: 100,
      ms: 1_000,
      stream,
      url: service.url,
      apiKey: service.apiKey,
    });
  loader.stop();
  const left = await waiting();
  const nextBody = bodies(1, STREAM);
  const wait = async (): Promise<number> => {
    for (;;) {
      const answer = await fetch(service.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
        body: nextBody(),
      });
      const { results } = (await answer.json()) as { results: { id: number }[] };
      const since = performance.now();
      const id = results[0]?.id;
      // Not every applicant has consented.
      if ((await service.admin.query(STATUS, [id])).rows.length === 0) continue;
      while ((await service.admin.query(STATUS, [id])).rows[0].status !== 'accepted') {
        if (performance.now() - since > GIVE_UP_MS) return GIVE_UP_MS;
        await sleep(LOOK_EVERY_MS);
      }
      return performance.now() - since;
    }
  };
  const { result: waits } = await during(async () => {
    const waits: number[] = [];
    for (let n = 0; n < SAMPLES; n += 1) {
      waits.push(await wait());
      await sleep(PAUSE_MS);
    }
    return waits;
  });
  await service.stop();
  const most = Math.max(...waits);
  console.log(
    `beside ${left} waiting messages at ${MESSAGES_PER_SECOND} a second`.padEnd(48),
    `${SAMPLES} messages of another partner: median ${median(waits).toFixed(0)} ms, longest ${most.toFixed(0)} ms`,
  );
  return [
    {
      name: `longest wait beside ${BACKLOG} messages`,
      figure: most,
      direction: 'at most',
      bound: 2_000,
      unit: 'ms',
    },
  ];
}
