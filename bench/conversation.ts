/**
 * `npm run bench:conversation`: a real service with 10,000 open conversations hears 500 messages a second over its
 * webhook. It measures how long a reply takes from the webhook's answer until others can read it in the outbox. The
 * exit code is 1 where a bar is missed. `--conversations N`, `--seconds N`, `--rate N`. With `--ingest N` it measures
 * instead what the same messages cost the ingest of batches, in N interleaved rounds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bar, judge, number } from './bars.ts';
import { benchIngest } from './conversation-ingest.ts';
import { type ConversationStage, openConversations } from './conversation-stage.ts';
import { numberOption, readOptions } from './options.ts';
import { worker } from './phase.ts';
import type { Webhooks, WebhooksResult } from './webhooks.ts';

const options = readOptions({
  conversations: { default: '10000', about: 'how many conversations are open' },
  seconds: { default: '20', about: 'how long it is measured; of each phase of --ingest' },
  rate: { default: '500', about: 'messages in a second' },
  together: { default: '1', about: 'messages in one webhook of --ingest' },
  share: { default: '0.4', about: 'the rate of batches in the open loop of --ingest, of the highest one' },
  ingest: { about: 'measure the ingest of batches beside the messages instead, in so many rounds' },
});
const conversations = numberOption('conversations', options.conversations, 100);
const seconds = numberOption('seconds', options.seconds, 1);
const rate = numberOption('rate', options.rate, 1);
const together = numberOption('together', options.together, 1);
const share = numberOption('share', options.share, 0);
const rounds = options.ingest === undefined ? null : numberOption('ingest', options.ingest, 1);
const P99_MS = 200;
/** How precise the time of a reply is. */
const LOOK_MS = 5;
const SENT_WITHIN_MS = 120_000;

const stage = await openConversations(conversations);
let bars: Bar[];
try {
  bars =
    rounds === null
      ? await replies(stage)
      : await benchIngest(stage, { seconds, rate, together, share, rounds });
} finally {
  await stage.stop();
}
judge(bars);

async function replies(stage: ConversationStage): Promise<Bar[]> {
  // A word under a question that is not sent yet is no answer to it.
  await restOfSends(stage);
  const [latencies, lost] = await measure(stage);
  const sentMs = await restOfSends(stage);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  console.log(
    `from the webhook's answer to the reply: p50 ${number(at(0.5), 0)} ms, p99 ${number(at(0.99), 0)} ms`,
  );
  console.log(`after the last reply was in the outbox, all were sent within ${number(sentMs / 1000, 1)} s`);
  return [
    { name: 'p99, webhook to reply', figure: at(0.99), direction: 'at most', bound: P99_MS, unit: 'ms' },
    { name: 'messages without a reply', figure: lost, direction: 'at most', bound: 0, unit: 'messages' },
  ];
}

/** How long it takes from now until every reply is sent. */
async function restOfSends({ service: { admin } }: ConversationStage): Promise<number> {
  const begun = performance.now();
  const waiting = "SELECT FROM replies WHERE status IN ('queued', 'sending') LIMIT 1";
  while (performance.now() - begun < SENT_WITHIN_MS && (await admin.query(waiting)).rowCount !== 0)
    await sleep(50);
  return performance.now() - begun;
}

/** Everybody in turn writes one message; sorted milliseconds, and how many got no reply. */
async function measure({
  service: { admin },
  persons,
  webhook,
  appSecret,
}: ConversationStage): Promise<[number[], number]> {
  const seen = new Map<number, number>();
  let last = (await admin.query<{ id: string }>('SELECT max(id) AS id FROM replies')).rows[0]?.id ?? '0';
  const writers = persons.slice(0, rate * seconds);
  let isOver = false;
  const watch = async () => {
    while (!isOver) {
      const { rows } = await admin.query<{ id: string; application_id: string }>(
        'SELECT id, application_id FROM replies WHERE id > $1 AND turn > 1 ORDER BY id',
        [last],
      );
      const now = performance.timeOrigin + performance.now();
      for (const { application_id } of rows) {
        if (!seen.has(Number(application_id))) seen.set(Number(application_id), now);
      }
      // Rows of transactions that commit later may have smaller numbers: a few are looked at again.
      if (rows.length > 0) last = `${Math.max(Number(last), Number(rows.at(-1)!.id) - 500)}`;
      await sleep(LOOK_MS);
    }
  };
  const watching = watch();
  const webhooks = worker<Webhooks, WebhooksResult>('./webhooks.ts');
  const { answeredAt, refused } = await webhooks.run({
    ...{ url: webhook, appSecret, phones: writers.map(({ phone }) => phone), text: 'sí' },
    ...{ perSecond: rate, together: 1, ms: (writers.length * 1000) / rate },
  });
  webhooks.stop();
  console.log(`${refused} webhooks were refused`);
  const until = performance.now() + 20_000;
  while (writers.some(({ id }) => !seen.has(id)) && performance.now() < until) await sleep(100);
  isOver = true;
  await watching;
  const found = writers.flatMap(({ id }, index) => {
    const [answered, told] = [answeredAt[index] ?? null, seen.get(id)];
    return answered === null || told === undefined ? [] : [Math.max(0, told - answered)];
  });
  return [found.toSorted((a, b) => a - b), writers.length - found.length];
}
