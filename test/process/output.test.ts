/** Nothing that a run writes holds personal data or a key, even at the lowest log level. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { anApplication } from '../support/service.ts';
import {
  addPartner,
  killHard,
  newDataDir,
  postmasterPid,
  type ServiceProcess,
  startService,
  submit,
  submitOnce,
  until,
  ventanillaJson,
} from './support.ts';

const NAME = 'Zebedeo Quintanilla';
const CITY = 'Villaplantada';
const ID_NUMBER = '7788990011';
const PHONE_DIGITS = '3157788990';
const PLANTED = [NAME, 'Quintanilla', CITY, ID_NUMBER, PHONE_DIGITS, '315 778 8990', '4123456.75'];

const person = (changes: Record<string, unknown> = {}) =>
  anApplication({
    name: NAME,
    city: CITY,
    id_number: ID_NUMBER,
    phone: `+57${PHONE_DIGITS}`,
    income: 4123456.75,
    ...changes,
  });

/** Sends requests on every path through the service, each with the person's data. */
async function sendEverything(service: ServiceProcess, apiKey: string): Promise<void> {
  const ok = await submit(service, apiKey, [person(), person({ phone: null })], { 'Idempotency-Key': NAME });
  assert.deepEqual([ok.status, ok.body.processed], [200, 2]);
  const duplicate = await submit(service, apiKey, [person({ phone: '+57 315 778 8990' })]);
  assert.match(JSON.stringify(duplicate.body), /already exists/);
  const reused = await submit(service, apiKey, [person()], { 'Idempotency-Key': NAME });
  assert.equal(reused.status, 400);
  const invalid = await submit(service, apiKey, [
    person({ income: NAME, num_debts: ID_NUMBER, phone: `${PHONE_DIGITS}${PHONE_DIGITS}` }),
    person({ name: `${NAME}\u0000`, city: `${CITY}\ud800`, id_number: [ID_NUMBER], currency: NAME }),
    NAME as never,
  ]);
  assert.deepEqual([invalid.status, invalid.body.processed], [200, 0]);
  const broken = `{"applications": [{"name": "${NAME}", "id_number": ${ID_NUMBER}, ${CITY}`;
  assert.equal((await submit(service, apiKey, broken)).status, 400);
  const wrongType = { 'Content-Type': `text/${ID_NUMBER}` };
  assert.equal((await submit(service, apiKey, [person()], wrongType)).status, 400);
  assert.equal((await submit(service, apiKey, JSON.stringify({ [NAME]: [person()] }))).status, 400);
  // The service refuses the body before it reads it, so the client may find the connection closed.
  const tooLarge = await submit(service, apiKey, [person({ extra: NAME.repeat(250_000) })]).catch(() => null);
  assert.ok(tooLarge === null || tooLarge.status === 413);
  assert.equal((await submit(service, `${apiKey.slice(0, -1)}x`, [person()])).status, 401);
  assert.equal((await submit(service, NAME, [person()])).status, 401);
  const place = encodeURIComponent(NAME);
  assert.equal((await fetch(`${service.url}/${place}?phone=${PHONE_DIGITS}&key=${apiKey}`)).status, 404);
  assert.equal((await fetch(`${service.opsUrl}/${place}?key=${apiKey}`)).status, 404);
  const query = `${service.url}/PRO?phone=${PHONE_DIGITS}`;
  assert.equal((await fetch(query, { headers: { 'X-API-Key': apiKey } })).status, 200);
  assert.equal((await fetch(query, { method: 'PUT', body: NAME })).status, 405);
  const sandbox = await fetch(`${service.url}/DEV`, {
    method: 'POST',
    headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ applications: [person()] }),
  });
  assert.match(await sandbox.text(), /would_notify/);
  const head = `POST /PRO HTTP/1.1\r\nHost: x\r\nX-API-Key: ${apiKey}\r\nX-Person: ${NAME}\r\n`;
  await sendRaw(service, `${head}Content-Length: 9999\r\n\r\n{"applications": [{"name": "${NAME}"`);
  await sendRaw(service, `${head}Content-Length: ${ID_NUMBER} ${PHONE_DIGITS}\r\n\r\n${CITY}`);
  await sendRaw(service, `${NAME} ${ID_NUMBER} ${apiKey}\r\n\r\n`);
}

/** Sends bytes that are not a whole request, then cuts the connection. */
function sendRaw({ url }: { url: string }, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {}).on('close', () => resolve());
    socket.setTimeout(300, () => socket.destroy());
    socket.write(bytes);
  });
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile());
}

function assertClean(what: string, content: string, secrets: readonly string[]): void {
  for (const secret of secrets) assert.ok(!content.includes(secret), `${what} holds ${secret}`);
}

test('a run at LOG_LEVEL=trace writes no personal data and no key', async () => {
  const dataDir = newDataDir();
  const apiKey = await addPartner(dataDir);
  const first = await startService(dataDir, { LOG_LEVEL: 'trace' });
  await sendEverything(first, apiKey);
  // The database dies in use and cannot come back: drivers, servers and the service then write the most.
  const settings = join(dataDir, 'postgres', 'postgresql.conf');
  const content = readFileSync(settings);
  writeFileSync(settings, 'no = such setting\n');
  await killHard(postmasterPid(dataDir) ?? 0);
  // The server's other processes still run for a moment.
  await until('the service to know', async () => (await fetch(`${first.opsUrl}/readyz`)).status === 503);
  const failed = await submitOnce(first, apiKey, [person({ phone: '+573157788991' })]);
  assert.equal(failed.status, 500);
  const exits = [await first.stop()];
  writeFileSync(settings, content);

  const second = await startService(dataDir, { LOG_LEVEL: 'trace' });
  const after = await submit(second, apiKey, [person()]);
  assert.match(JSON.stringify(after.body), /already exists/);
  exits.push(await second.stop());

  const secrets = [...PLANTED, apiKey, apiKey.slice(-40)];
  const out = exits.map((exit) => exit.out + exit.err).join('\n');
  // The log is long and has the requests.
  assert.ok((out.match(/"request_id"/g)?.length ?? 0) > 15);
  assert.match(out, /"outcomes":\{"registered":2\}/);
  assertClean('the output', out, [...secrets, encodeURIComponent(NAME)]);
  const files = filesBelow(dataDir);
  assert.ok(files.some((path) => path.endsWith('postgres.log')));
  assert.ok(files.length > 500 && !files.some((path) => path.endsWith('demo-key')));
  // The logs and the database's own files too: stored data is sealed, and the key is only a hash.
  for (const path of files) assertClean(path, readFileSync(path, 'latin1'), secrets);

  // The check works: with the secrets, the person is found.
  const [found] = await ventanillaJson(
    dataDir,
    'application',
    'list',
    '--id-number',
    ID_NUMBER,
    '--reveal',
    '--reason',
    'test',
  );
  assert.equal(found.name, NAME);
});
