import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEnvelope, readEnvelopes, trimSurplus } from '../../src/storage/envelope.ts';
import { deleteOldReceipts, firstUuidV7At } from '../../src/storage/receipts.ts';
import { anApplication, post, testService } from '../support/service.ts';

const service = await testService();
const { apiKey } = await service.addPartner();

interface Answer {
  results: { id: number; name: string }[];
  errors: number;
}

async function send(applications: unknown[]): Promise<Answer> {
  const { status, body } = await post(`${service.url}/PRO`, apiKey, { applications });
  assert.equal(status, 200);
  return body as Answer;
}

async function batchOf(id: number): Promise<{ id: string; envelope: Buffer; surplus: boolean }> {
  const { rows } = await service.database.query(
    'SELECT * FROM batches WHERE id = (SELECT batch_id FROM applications WHERE id = $1)',
    [id],
  );
  return rows[0];
}

/** The names in the envelope of the application's batch, by position. */
async function namesIn(id: number): Promise<Record<string, unknown>> {
  const batch = await batchOf(id);
  const records = openEnvelope(service.vault, batch.id, batch.envelope);
  return Object.fromEntries(Object.entries(records).map(([position, { name }]) => [position, name]));
}

async function eventually(check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 3_000;
  while (!(await check())) {
    assert.ok(Date.now() < deadline, 'it did not come to pass in 3 s');
    await sleep(20);
  }
}

test('the envelope of a batch holds its applicants by their position in the batch as it was sent', async () => {
  const answer = await send([
    null,
    anApplication({ name: 'Uno' }),
    { name: 'Dos' },
    anApplication({ name: 'Tres' }),
  ]);
  const [first] = answer.results;
  assert.ok(first);
  assert.deepEqual(await namesIn(first.id), { 1: 'Uno', 3: 'Tres' });
  assert.equal((await batchOf(first.id)).surplus, false);
});

test('who is refused as a duplicate or over quota is taken out of the envelope', async () => {
  const phone = '+573119990001';
  const answer = await send([
    anApplication({ name: 'Primera', phone }),
    anApplication({ name: 'Repetida', phone }),
    anApplication({ name: 'Otra' }),
  ]);
  const id = (answer.results[0] as { id: number }).id;
  await eventually(async () => !(await batchOf(id)).surplus);
  assert.deepEqual(await namesIn(id), { 0: 'Primera', 2: 'Otra' });
});

test('a batch of which nothing registered leaves no envelope', async () => {
  const phone = '+573119990002';
  await send([anApplication({ phone })]);
  const { rows: before } = await service.database.query('SELECT count(*)::int AS count FROM batches');
  const answer = await send([anApplication({ phone })]);
  assert.equal(answer.errors, 1);
  const { rows: after } = await service.database.query('SELECT count(*)::int AS count FROM batches');
  assert.equal(after[0].count, before[0].count);
});

test('the upkeep trims an envelope that a crash left whole, and its receipt waits for that', async () => {
  const phone = '+573119990003';
  const answer = await send([
    null,
    anApplication({ name: 'Queda', phone }),
    anApplication({ name: 'Sale', phone }),
    anApplication({ name: 'Sigue' }),
  ]);
  const id = (answer.results[0] as { id: number }).id;
  await eventually(async () => !(await batchOf(id)).surplus);
  const batch = await batchOf(id);
  // As if the service had died right after the commit.
  const whole = service.vault.seal(
    JSON.stringify({ 1: { name: 'Queda' }, 2: { name: 'Sale' }, 3: { name: 'Sigue' } }),
    `batch:${batch.id}`,
  );
  await service.database.query('UPDATE batches SET envelope = $2, surplus = true WHERE id = $1', [
    batch.id,
    whole,
  ]);
  const inTwoDays = new Date(Date.now() + 48 * 60 * 60_000);
  await deleteOldReceipts(service.database, inTwoDays);
  assert.equal(await trimSurplus(service.database, service.vault, firstUuidV7At(inTwoDays.getTime())), 1);
  assert.deepEqual(await namesIn(id), { 1: 'Queda', 3: 'Sigue' });
  assert.equal((await batchOf(id)).surplus, false);
  assert.equal(await trimSurplus(service.database, service.vault, firstUuidV7At(inTwoDays.getTime())), 0);
});

test('an envelope opens for its own batch only', async () => {
  const one = (await send([anApplication()])).results[0] as { id: number };
  const two = (await send([anApplication()])).results[0] as { id: number };
  const [a, b] = [await batchOf(one.id), await batchOf(two.id)];
  assert.throws(() => openEnvelope(service.vault, a.id, b.envelope));
  const read = await readEnvelopes(service.database, service.vault, [a.id, a.id, b.id]);
  assert.deepEqual([...read.keys()].sort(), [a.id, b.id].sort());
});
