/**
 * `npm run bench:inbox-browser`: persons write at the channel, one message after the other, and a browser shows the
 * inbox of a real service. It measures how long a message takes from the channel's webhook to the page. The exit code
 * is 1 where one took longer than two seconds. `--messages N`, `--persons N`.
 */
import { randomUUID } from 'node:crypto';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium, type Page } from 'playwright-core';
import { toApplicationId } from '../src/domain/application/ids.ts';
import { interestPayload } from '../src/domain/message/outgoing-message.ts';
import { machineClock } from '../src/ground/base/clock.ts';
import { openDatabase } from '../src/ground/postgres/open-database.ts';
import { secretsOfDataDir } from '../src/seal/secrets-file.ts';
import { Vault } from '../src/seal/vault.ts';
import { enrol, lockAccount, setFactors } from '../src/subjects/operators/sql/factors.ts';
import { startSession } from '../src/subjects/operators/sql/sessions.ts';
import { addOperator } from '../src/subjects/operators/uses/manage.ts';
import { newSession } from '../src/subjects/operators/uses/tokens.ts';
import { IN_REVIEW } from '../test/support/applicant.ts';
import { executablePath } from '../test/support/browser.ts';
import { freePort } from '../test/support/free-port.ts';
import { anApplication } from '../test/support/service.ts';
import {
  buttonWebhook,
  startWhatsAppApi,
  textWebhook,
  type WebhookBody,
} from '../test/support/whatsapp-api.ts';
import { judge, number } from './bars.ts';
import { numberOption, readOptions } from './options.ts';
import { startServiceProcess } from './service-process.ts';

const options = readOptions({
  messages: { default: '100', about: 'messages that persons write' },
  persons: { default: '10', about: 'persons who write them in turn' },
});
const messages = numberOption('messages', options.messages, 1);
const count = numberOption('persons', options.persons, 1);

/** The page asks again at this pace: a message may come at any moment between two times. */
const BETWEEN_MS = 1_500;
/** What does not come for so long does not come. */
const PATIENCE_MS = 30_000;

interface Person {
  readonly id: number;
  /** Digits. */
  readonly phone: string;
}

const port = await freePort();
const origin = `http://localhost:${port}`;
const api = await startWhatsAppApi();
const service = await startServiceProcess({
  ...api.environment,
  ...{ CONSOLE_PORT: `${port}`, DELIVERY: 'on' },
});
const database = openDatabase(
  { connectionString: service.connectionString },
  { max: 4, onError: () => {}, clock: machineClock },
);
const browser = await chromium.launch({ executablePath: executablePath as string, chromiumSandbox: false });
const waits: number[] = [];
try {
  const cookie = await signedIn();
  const persons = await askingPersons();
  for (const person of persons) await answer(person, cookie);
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1280, height: 800 } });
  await context.addCookies([{ name: 'ventanilla', value: cookie, url: origin }]);
  const page = await context.newPage();
  await page.goto(`${origin}/inbox`);
  await page.getByText('Nobody waits for an answer.').waitFor();
  console.log(`${persons.length} persons write ${messages} messages; load ${loadavg()[0]!.toFixed(1)}`);
  for (let sent = 0; sent < messages; sent += 1) {
    waits.push(await shownAfter(page, persons[sent % persons.length]!));
    await answer(persons[sent % persons.length]!, cookie);
    await page.getByText('Nobody waits for an answer.').waitFor();
  }
} finally {
  await browser.close();
  await database.end();
  await service.stop();
  await api.close();
}
waits.sort((a, b) => a - b);
const at = (share: number) =>
  waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? Number.NaN;
console.log(
  `${number(waits.length)} messages; from the webhook to the page: p50 ${number(at(0.5))} ms, p95 ${number(at(0.95))} ms, ` +
    `longest ${number(at(1))} ms; load ${loadavg()[0]!.toFixed(1)}`,
);
judge([{ name: 'the longest', figure: at(1), direction: 'at most', bound: 2_000, unit: 'ms' }]);

/** Milliseconds from the webhook with a person's message to the row on the page. */
async function shownAfter(page: Page, person: Person): Promise<number> {
  await sleep(Math.random() * BETWEEN_MS);
  const row = page.getByRole('link', { name: `${person.id}`, exact: true });
  const sentAt = performance.now();
  await write(person);
  await row.waitFor();
  return performance.now() - sentAt;
}

async function deliver(webhook: WebhookBody): Promise<void> {
  const [status] = await api.deliver(`${new URL(service.url).origin}/webhooks/whatsapp`, [webhook]);
  if (status !== 200) throw new Error(`the webhook answered ${status}`);
}

function write({ phone }: Person, text = '¿hola?'): Promise<void> {
  api.wrote.add(`+${phone}`);
  return deliver(textWebhook({ from: phone, id: `wamid.${randomUUID()}`, text, at: new Date() }));
}

/** Persons who have tapped, and asked for an operator. */
async function askingPersons(): Promise<Person[]> {
  const phones = Array.from({ length: count }, (_, index) => `573007${100_000 + index}`);
  const response = await fetch(service.url, {
    method: 'POST',
    headers: { 'X-API-Key': service.apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      applications: phones.map((phone) => anApplication({ ...IN_REVIEW, phone: `+${phone}` })),
    }),
  });
  const { results } = (await response.json()) as { results: { id: number }[] };
  const persons = results.map(({ id }, index) => ({ id, phone: phones[index]! }));
  for (const { id, phone } of persons) {
    api.wrote.add(`+${phone}`);
    const payload = interestPayload(toApplicationId(id));
    await deliver(
      buttonWebhook({
        from: phone,
        id: `wamid.${randomUUID()}`,
        payload,
        messageId: 'wamid.0',
        at: new Date(),
      }),
    );
  }
  await until(`${count} conversations begin`, 'flow_id IS NOT NULL', count);
  for (const person of persons) await write(person, 'asesor');
  await until(`operators hold ${count} conversations`, "held_by = 'operator'", count);
  return persons;
}

async function until(what: string, condition: string, wanted: number): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  const sql = `SELECT count(*)::integer AS count FROM conversations WHERE ${condition}`;
  while ((await service.admin.query(sql)).rows[0].count < wanted) {
    if (performance.now() > giveUpAt) throw new Error(`not within ${PATIENCE_MS} ms: ${what}`);
    await sleep(100);
  }
}

/** Nobody waits any more. */
async function answer({ id }: Person, cookie: string): Promise<void> {
  const response = await fetch(`${origin}/api/conversations/${id}/messages`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Cookie: `ventanilla=${cookie}` },
    body: JSON.stringify({ text: 'Hola, ¿en qué le ayudo?' }),
  });
  if (!response.ok) throw new Error(`an answer got ${response.status}: ${await response.text()}`);
}

/** The cookie of a new operator with both factors. */
async function signedIn(): Promise<string> {
  const vault = new Vault(await secretsOfDataDir(service.dataDir, false, machineClock));
  const { operator } = await addOperator(
    { database, vault },
    { login: 'inbox', role: 'reviewer', authority: new Map() },
  );
  const account = async () => (await lockAccount(database, vault, operator.id))!;
  const factors = { password: 'no hash', totp: Buffer.alloc(20) };
  await enrol(database, vault, await setFactors(database, vault, await account(), factors), { totpStep: 0 });
  const { cookie, key } = newSession();
  await startSession(database, vault, key, { account: await account(), isWhole: true });
  return cookie;
}
