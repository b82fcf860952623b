/**
 * `npm run bench:conversation`: a real service with 10,000 open conversations hears 500 messages a second over its
 * webhook. It measures how long a reply takes from the webhook's answer until others can read it in the outbox. The
 * exit code is 1 where a bar is missed. `--conversations N`, `--seconds N`, `--rate N`.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { anApplication } from '../test/support/service.ts';
import { judge, number } from './bars.ts';
import { numberOption, readOptions } from './options.ts';
import { startServiceProcess } from './service-process.ts';

const options = readOptions({
  conversations: { default: '10000', about: 'how many conversations are open' },
  seconds: { default: '20', about: 'how long it is measured' },
  rate: { default: '500', about: 'messages in a second' },
});
const conversations = numberOption('conversations', options.conversations, 100);
const seconds = numberOption('seconds', options.seconds, 1);
const rate = numberOption('rate', options.rate, 1);
const P99_MS = 200;
const BATCH = 100;

interface Person {
  readonly id: number;
  readonly phone: string;
}

let serial = 0;
let refused = 0;
const appSecret = randomBytes(16).toString('hex');
const peer = createServer((request, response) => {
  request.resume().on('end', () => {
    const messages = [{ id: `wamid.${randomBytes(12).toString('hex')}`, message_status: 'accepted' }];
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ messaging_product: 'whatsapp', messages }));
  });
}).listen(0, '127.0.0.1');
await new Promise((resolve) => peer.once('listening', resolve));
const secret = () => randomBytes(32).toString('base64');
const service = await startServiceProcess({
  DELIVERY: 'on',
  LOG_LEVEL: 'error',
  CHANNEL: 'whatsapp',
  DATA_KEYS: `1:${secret()}`,
  INDEX_KEY: secret(),
  API_KEY_PEPPER: secret(),
  WHATSAPP_API_URL: `http://127.0.0.1:${(peer.address() as AddressInfo).port}`,
  WHATSAPP_PHONE_NUMBER_ID: '1',
  WHATSAPP_ACCESS_TOKEN: 'token',
  WHATSAPP_APP_SECRET: appSecret,
  WHATSAPP_VERIFY_TOKEN: 'verify',
  // The templates wait: this is about replies.
  MESSAGES_PER_SECOND: '80',
});
const base = service.url.replace(/\/PRO$/, '');
let latencies: number[] = [];
let lost = 0;
try {
  const persons = await register();
  console.log(`${persons.length} applications are registered`);
  await begin(persons);
  console.log(`${persons.length} conversations are open`);
  [latencies, lost] = await measure(persons);
} finally {
  await service.stop();
  peer.close();
}
const at = (share: number) =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
console.log(
  `from the webhook's answer to the reply: p50 ${number(at(0.5), 0)} ms, p99 ${number(at(0.99), 0)} ms`,
);
console.log(`${refused} webhooks were refused and sent again`);
judge([
  { name: 'p99, webhook to reply', figure: at(0.99), direction: 'at most', bound: P99_MS, unit: 'ms' },
  { name: 'messages without a reply', figure: lost, direction: 'at most', bound: 0, unit: 'messages' },
]);

async function register(): Promise<Person[]> {
  const persons: Person[] = [];
  while (persons.length < conversations) {
    const applications = Array.from({ length: BATCH }, () => anApplication());
    const response = await fetch(`${base}/PRO`, {
      method: 'POST',
      headers: { 'X-API-Key': service.apiKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ applications }),
    });
    const { results } = (await response.json()) as { results: { id: number; status: string }[] };
    for (const [index, { id, status }] of results.entries()) {
      if (status !== 'rejected') persons.push({ id, phone: applications[index]!.phone as string });
    }
  }
  return persons.slice(0, conversations);
}

/** One webhook with one message of each of these persons. Resolves when it is answered. */
async function tell(persons: readonly Person[], content: (person: Person) => object): Promise<number> {
  const timestamp = `${Math.floor(Date.now() / 1000)}`;
  const messages = persons.map((person) => ({
    from: person.phone.replace('+', ''),
    id: `wamid.in.${++serial}`,
    timestamp,
    ...content(person),
  }));
  const value = { messaging_product: 'whatsapp', metadata: { phone_number_id: '1' }, messages };
  const body = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
  });
  const signature = createHmac('sha256', appSecret).update(body).digest('hex');
  const headers = { 'Content-Type': 'application/json', 'X-Hub-Signature-256': `sha256=${signature}` };
  // As the channel does: what was not answered with 200 comes again.
  for (;;) {
    const status = await fetch(`${base}/webhooks/whatsapp`, { method: 'POST', headers, body })
      .then(async (response) => {
        await response.arrayBuffer();
        return response.status;
      })
      .catch(() => 0);
    if (status === 200) return performance.now();
    refused += 1;
    await sleep(500);
  }
}

/** Everybody taps, and is asked for the consent. */
async function begin(persons: readonly Person[]): Promise<void> {
  for (let from = 0; from < persons.length; from += BATCH) {
    await tell(persons.slice(from, from + BATCH), ({ id }) => ({
      type: 'button',
      button: { payload: `interested.${id}`, text: 'Me interesa' },
    }));
  }
  const open = "SELECT count(*)::integer AS n FROM conversations WHERE place = 'data_consent'";
  const until = performance.now() + 300_000;
  for (;;) {
    const n = (await service.admin.query<{ n: number }>(open)).rows[0]?.n ?? 0;
    if (n >= persons.length) return;
    if (performance.now() > until) throw new Error(`only ${n} conversations began`);
    await sleep(500);
  }
}

/** Everybody in turn writes one message; sorted milliseconds, and how many got no reply. */
async function measure(persons: readonly Person[]): Promise<[number[], number]> {
  const answered = new Map<number, number>();
  const seen = new Map<number, number>();
  let last =
    (await service.admin.query<{ id: string }>('SELECT max(id) AS id FROM replies')).rows[0]?.id ?? '0';
  const count = Math.min(persons.length, rate * seconds);
  let isOver = false;
  const watch = async () => {
    while (!isOver) {
      const { rows } = await service.admin.query<{ id: string; application_id: string }>(
        'SELECT id, application_id FROM replies WHERE id > $1 AND turn > 1 ORDER BY id',
        [last],
      );
      const now = performance.now();
      for (const { application_id } of rows) {
        if (!seen.has(Number(application_id))) seen.set(Number(application_id), now);
      }
      // Rows of transactions that commit later may have smaller numbers: a few are looked at again.
      if (rows.length > 0) last = `${Math.max(Number(last), Number(rows.at(-1)!.id) - 500)}`;
      await sleep(3);
    }
  };
  const watching = watch();
  const begun = performance.now();
  const told: Promise<unknown>[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    const due = begun + (sent * 1000) / rate;
    if (due > performance.now()) await sleep(due - performance.now());
    const person = persons[sent]!;
    told.push(
      tell([person], () => ({ type: 'text', text: { body: 'sí' } })).then((ms) =>
        answered.set(person.id, ms),
      ),
    );
  }
  await Promise.all(told);
  const until = performance.now() + 20_000;
  while ([...answered.keys()].some((id) => !seen.has(id)) && performance.now() < until) await sleep(100);
  isOver = true;
  await watching;
  const found = [...answered].flatMap(([id, ms]) => (seen.has(id) ? [Math.max(0, seen.get(id)! - ms)] : []));
  return [found.toSorted((a, b) => a - b), answered.size - found.length];
}
