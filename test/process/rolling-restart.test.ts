/**
 * A rolling upgrade (docs/deploy.md): two services behind nginx are replaced one after the other by the next version,
 * whose migrations are applied before, while batches, delivery, chats and events go on.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { demoIdentity } from '../../src/subjects/signing/pdf/demo-identity.ts';
import { testDatabase } from '../support/database.ts';
import { lastingPort } from '../support/free-port.ts';
import { skipWithout, startProxy } from '../support/proxies.ts';
import { addPartner } from '../support/service.ts';
import { splitIdentity } from '../support/signing.ts';
import { TERMS } from '../support/terms.ts';
import { startWhatsAppApi } from '../support/whatsapp-api.ts';
import { trafficAt } from './rolling-traffic.ts';
import { REPOSITORY, scratch, until, type Variables } from './support.ts';
import { nextVersion, stop, versionsOn } from './versions.ts';

/** What a batch is answered that has to come again: the service stops, or the proxy has lost it. */
const AGAIN = [500, 502];

const store = await testDatabase();
const api = await startWhatsAppApi();
after(() => api.close());
/** With these an applicant who gives the consent can be offered a loan. */
const signing = scratch('signing');
await demoIdentity(signing, machineClock);
splitIdentity(signing);
writeFileSync(join(signing, 'terms.json'), JSON.stringify(TERMS));
const { command, start } = versionsOn(store, {
  ...api.environment,
  TERMS_FILE: join(signing, 'terms.json'),
  SIGNING_CERTIFICATE_FILE: join(signing, 'cert.pem'),
  SIGNING_KEY_FILE: join(signing, 'key.pem'),
  CONTACT_WINDOWS_FILE: `${REPOSITORY}/bench/always-open.json`,
});
const NEXT = nextVersion([
  'ALTER TABLE partners ADD COLUMN of_next text',
  "CREATE TABLE of_next (id bigint PRIMARY KEY); SELECT runtime_may('SELECT, INSERT', 'of_next')",
]);
/** The owner of the tables is for `migrate` alone. */
const AS_SERVICE: Variables = { MIGRATE_DATABASE_URL: '' };

test('two services are replaced by the next version: nothing is lost, and nothing comes twice', {
  skip: skipWithout('nginx'),
}, async () => {
  const { apiKey } = await addPartner(store, { dailyCap: 1_000_000 });
  const ports = [await lastingPort(), await lastingPort()] as const;
  const begin = (turn: 0 | 1, folder: string) => start(folder, { ...AS_SERVICE, PORT: `${ports[turn]}` });
  const services = await Promise.all([begin(0, REPOSITORY), begin(1, REPOSITORY)]);
  const url = await startProxy('nginx', services[0].url, services[1].url);
  const traffic = trafficAt(url, apiKey, api);
  await traffic.goesOn();

  const replace = async (turn: 0 | 1, folder: string) => {
    await stop(services[turn]);
    services[turn] = await begin(turn, folder);
    for (const { ready } of services) await until('both to be ready', async () => (await ready()) === 200);
    await traffic.goesOn();
  };
  assert.equal((await command(NEXT, ['migrate']).exit).code, 0);
  await traffic.goesOn();
  // An older one may start again after the migration.
  await replace(0, REPOSITORY);
  await replace(0, NEXT);
  for (const folder of [REPOSITORY, NEXT]) {
    const { code, out, err } = await command(folder, ['status'], AS_SERVICE).exit;
    assert.deepEqual([code, out.split('\n')[0]], [0, 'ALL IS WELL'], out + err);
  }
  await replace(1, NEXT);
  await traffic.end();

  const { registered, chatted, events, failures, repliesTo } = traffic;
  const ids = registered.map(({ id }) => id);
  assert.deepEqual(
    failures.filter((status) => !AGAIN.includes(status)),
    [],
  );
  const stored = await store.database.query('SELECT id::float8 AS id FROM applications ORDER BY id');
  assert.deepEqual(
    stored.rows.map(({ id }) => id),
    ids.toSorted((one, other) => one - other),
    'each acknowledged application is stored once, and no other one',
  );
  const quota = await fetch(`${url}/PRO`, { headers: { 'X-API-Key': apiKey } });
  const { partner } = (await quota.json()) as { partner: { used_24h: number } };
  assert.equal(partner.used_24h, ids.length);
  await until('every offer', () => ids.every((id) => api.accepted.has(`${id}.1`)));
  for (const service of services) await stop(service);
  const twice = [...api.accepted].filter(([, sends]) => sends.length > 1);
  assert.deepEqual(twice, []);
  for (const phone of chatted) assert.equal(repliesTo(phone).length, 2);
  const interested = events
    .filter(({ type }) => type === 'application.interested')
    .map(({ data }) => data.id);
  const talked = registered.filter(({ phone }) => chatted.includes(phone)).map(({ id }) => id);
  assert.deepEqual(interested.toSorted(), talked.toSorted());
});
