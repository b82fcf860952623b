/** Refusals over HTTP are counted by key, for operators (D16, D19, D20, D36). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { remac } from '../support/remac.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { TestClock } from '../support/test-clock.ts';

/** The service writes its counts so far apart. */
const EVERY_MS = 5_000;
const clock = new TestClock();
const service = await testService({}, { clock });
const { database } = service;

/** Lets the service write, and waits until it has written counts of `total` in all. */
async function counted(keyId: number, total: number): Promise<Record<string, number>> {
  await clock.advance(EVERY_MS);
  return eventually('the counts', async () => {
    const { rows } = await database.query(
      `SELECT sum(registered)::integer AS registered, sum(duplicate)::integer AS duplicate,
        sum(over_quota)::integer AS over_quota, sum(invalid)::integer AS invalid,
        sum(unauthorized)::integer AS unauthorized,
        sum(registered + duplicate + over_quota + invalid + unauthorized)::integer AS total
      FROM key_outcomes WHERE api_key_id = $1`,
      [keyId],
    );
    const { total: found, ...counts } = rows[0];
    return found >= total && counts;
  });
}

test('PRO counts registered, duplicates, over quota and invalid; DEV and replays count nothing', async () => {
  const { apiKey, keyId } = await service.addPartner({ dailyCap: 2 });
  const taken = anApplication();
  await post(`${service.url}/DEV`, apiKey, { applications: [taken, { ...taken, income: 0 }] });
  const batch = { applications: [taken, taken, { ...taken, city: '' }, 'nobody'] };
  for (const _ of [1, 2]) await post(`${service.url}/PRO`, apiKey, batch, { 'Idempotency-Key': 'one' });
  await post(`${service.url}/PRO`, apiKey, { applications: ['nobody'] });
  await post(`${service.url}/PRO`, apiKey, {
    applications: [anApplication(), anApplication(), anApplication()],
  });
  assert.deepEqual(await counted(keyId, 8), {
    registered: 2,
    duplicate: 1,
    over_quota: 2,
    invalid: 3,
    unauthorized: 0,
  });
});

test('the use of an ended key, or of a key for the other environment, counts for every method', async () => {
  const { apiKey, keyId } = await service.addPartner({ environment: 'DEV' });
  const statuses: number[] = [];
  const get = async (environment: string) => {
    const answer = await fetch(`${service.url}/${environment}`, { headers: { 'X-API-Key': apiKey } });
    statuses.push(answer.status);
  };
  await get('DEV');
  await get('PRO');
  statuses.push((await post(`${service.url}/PRO`, apiKey, { applications: [anApplication()] })).status);
  await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [keyId]);
  await remac(service);
  await get('DEV');
  await database.query(
    "UPDATE api_keys SET revoked_at = NULL, expires_at = now() - interval '1 second' WHERE id = $1",
    [keyId],
  );
  await remac(service);
  await get('DEV');
  assert.deepEqual(statuses, [200, 401, 401, 401, 401]);
  assert.equal((await counted(keyId, 4)).unauthorized, 4);
});

test('the log warns of a sweep by a key without quota', async () => {
  const { apiKey, keyId } = await service.addPartner({ dailyCap: 0 });
  for (let batch = 0; batch < 6; batch += 1) {
    await post(`${service.url}/PRO`, apiKey, {
      applications: Array.from({ length: 100 }, () => anApplication()),
    });
  }
  await counted(keyId, 600);
  // The service says it after the counts are in the store.
  const lines = await eventually('the warning', () => {
    const found = service.log.filter((line) => line.includes('look like a sweep'));
    return found.length > 0 && found.map((line) => JSON.parse(line));
  });
  assert.deepEqual(
    lines.map(({ level, key_id, registered }) => [level, key_id, registered]),
    [[40, keyId, 0]],
  );
});
