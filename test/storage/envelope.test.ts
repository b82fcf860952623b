import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toBatchId } from '../../src/domain/application/ids.ts';
import type { Session } from '../../src/storage/database.ts';
import { openEnvelope, readEnvelopes, sealEnvelope } from '../../src/storage/envelope.ts';
import { deleteOldReceipts } from '../../src/storage/receipts.ts';
import { trimSurplus } from '../../src/storage/surplus.ts';
import { Vault } from '../../src/storage/vault.ts';
import { TEST_SECRETS } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { batchOf as storedBatchOf } from '../support/stored-applications.ts';

const service = await testService({}, { upkeep: false });
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

const batchOf = (id: number) => storedBatchOf(service.database, id);

/** The names in the envelope of the application's batch, by position. */
async function namesIn(id: number): Promise<Record<string, unknown>> {
  const batch = await batchOf(id);
  const records = openEnvelope(service.vault, batch.seal_id, batch.envelope);
  return Object.fromEntries(Object.entries(records).map(([position, { name }]) => [position, name]));
}

/** For the receipts. */
async function passAMinute(): Promise<void> {
  await service.database.query("UPDATE batch_receipts SET created_at = now() - interval '1 minute'");
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

test('applicants who are refused as a duplicate or over quota are removed from the envelope', async () => {
  const phone = '+573119990001';
  const answer = await send([
    anApplication({ name: 'Primera', phone }),
    anApplication({ name: 'Repetida', phone }),
    anApplication({ name: 'Otra' }),
  ]);
  const id = (answer.results[0] as { id: number }).id;
  await eventually('the envelope to be trimmed', async () => !(await batchOf(id)).surplus);
  assert.deepEqual(await namesIn(id), { 0: 'Primera', 2: 'Otra' });
});

test('a batch without a registered application leaves no envelope', async () => {
  const phone = '+573119990002';
  await send([anApplication({ phone })]);
  const { rows: before } = await service.database.query('SELECT count(*)::int AS count FROM batches');
  const answer = await send([anApplication({ phone })]);
  assert.equal(answer.errors, 1);
  const { rows: after } = await service.database.query('SELECT count(*)::int AS count FROM batches');
  assert.equal(after[0].count, before[0].count);
});

test('the upkeep trims an envelope that a crash left whole, and keeps its receipt until then', async () => {
  const phone = '+573119990003';
  const answer = await send([
    null,
    anApplication({ name: 'Queda', phone }),
    anApplication({ name: 'Sale', phone }),
    anApplication({ name: 'Sigue' }),
  ]);
  const id = (answer.results[0] as { id: number }).id;
  await eventually('the envelope to be trimmed', async () => !(await batchOf(id)).surplus);
  const batch = await batchOf(id);
  // As if the service had died right after the commit.
  const whole = sealEnvelope(service.vault, batch.seal_id, [
    { position: 1, application: { name: 'Queda' } },
    { position: 2, application: { name: 'Sale' } },
    { position: 3, application: { name: 'Sigue' } },
  ]);
  await service.database.query('UPDATE batches SET envelope = $2, surplus = true WHERE id = $1', [
    batch.id,
    whole,
  ]);
  const days = 2 * 24 * 60 * 60_000;
  await service.database.query('UPDATE batch_receipts SET stored_ms = stored_ms - $1', [days]);
  await deleteOldReceipts(service.database);
  assert.deepEqual(await trimSurplus(service.database, service.vault), []);
  assert.equal((await batchOf(id)).surplus, true, 'the answer may still be under way');
  await passAMinute();
  assert.deepEqual(await trimSurplus(service.database, service.vault), []);
  assert.deepEqual(await namesIn(id), { 1: 'Queda', 3: 'Sigue' });
  assert.equal((await batchOf(id)).surplus, false);
});

test('an envelope opens for its own batch only', async () => {
  const one = (await send([anApplication()])).results[0] as { id: number };
  const two = (await send([anApplication()])).results[0] as { id: number };
  const [a, b] = [await batchOf(one.id), await batchOf(two.id)];
  assert.throws(() => openEnvelope(service.vault, a.seal_id, b.envelope));
  const read = await readEnvelopes(service.database, service.vault, [
    toBatchId(a.id),
    toBatchId(a.id),
    toBatchId(b.id),
  ]);
  assert.deepEqual([...read.keys()].sort(), [a.id, b.id].sort());
});

test('surplus envelopes that do not open do not stop the others from being trimmed, and are left alone for an hour', async () => {
  const batches: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    const { id } = (await send([anApplication({ name: 'Una' })])).results[0] as { id: number };
    batches.push((await batchOf(id)).id);
  }
  const last = batches.at(-1) as string;
  const bad = batches.slice(0, -1);
  await service.database.query('UPDATE batches SET surplus = true WHERE id = ANY ($1)', [batches]);
  await service.database.query("UPDATE batch_receipts SET marks = 'R' WHERE number = ANY ($1)", [batches]);
  const sealIdOf = async (id: string) =>
    (await service.database.query('SELECT seal_id FROM batches WHERE id = $1', [id])).rows[0].seal_id;
  // More than one chunk.
  const { rows } = await service.database.query<{ id: string }>(
    `WITH copies AS (
      INSERT INTO batches SELECT (json_populate_record(b, json_build_object('id', nextval('batch_numbers'),
        'seal_id', gen_random_uuid(), 'envelope', '\\x0102', 'surplus', true))).*
      FROM batches b, generate_series(1, 150) WHERE b.id = $1 RETURNING id, seal_id
    ), receipts AS (
      INSERT INTO batch_receipts (batch_id, api_key_id, created_at, stored_ms, number, marks)
      SELECT seal_id, 1, now(), 0, id, 'R' FROM copies
    )
    SELECT id FROM copies`,
    [last],
  );
  const [flipped, gone, foreign] = bad as [string, string, string];
  await service.database.query(
    'UPDATE batches SET envelope = set_byte(envelope, 40, get_byte(envelope, 40) # 1) WHERE id = $1',
    [flipped],
  );
  await service.database.query('UPDATE batches SET envelope = $2 WHERE id = $1', [
    gone,
    new Vault({ ...TEST_SECRETS, dataKeys: new Map([[1, TEST_SECRETS.indexKey]]) }).seal(
      '{}',
      `batch:${await sealIdOf(gone)}`,
    ),
  ]);
  await service.database.query("UPDATE batch_receipts SET marks = 'RR' WHERE number = $1", [foreign]);
  await passAMinute();
  const unreadable = [...bad, ...rows.map(({ id }) => id)].sort();
  assert.deepEqual((await trimSurplus(service.database, service.vault)).toSorted(), unreadable);
  const surplus = async (id: string) =>
    (await service.database.query('SELECT surplus FROM batches WHERE id = $1', [id])).rows[0].surplus;
  assert.equal(await surplus(last), false);
  assert.equal(
    await surplus(foreign),
    true,
    'a receipt of another number of applicants says nothing of these',
  );
  assert.deepEqual(await trimSurplus(service.database, service.vault), []);
  await service.database.query(
    "UPDATE batches SET unreadable_at = now() - interval '61 minutes' WHERE unreadable_at IS NOT NULL",
  );
  assert.deepEqual((await trimSurplus(service.database, service.vault)).toSorted(), unreadable);
  // As after a step of the clock back.
  await service.database.query(
    "UPDATE batches SET unreadable_at = now() + interval '1 day' WHERE unreadable_at IS NOT NULL",
  );
  assert.deepEqual((await trimSurplus(service.database, service.vault)).toSorted(), unreadable);
});

test('many envelopes are opened in several turns of the event loop, so that other requests come between', async () => {
  const envelope = sealEnvelope(service.vault, 'some', []);
  const rows = Array.from({ length: 500 }, (_, index) => ({
    id: toBatchId(index),
    seal_id: 'some',
    envelope,
  }));
  const session = { query: async () => ({ rows }) } as unknown as Session;
  let turns = 0;
  let counter = setImmediate(function count() {
    turns += 1;
    counter = setImmediate(count);
  });
  const opened = await readEnvelopes(session, service.vault, [toBatchId(1)]);
  clearImmediate(counter);
  assert.equal(opened.size, 500);
  assert.ok([...opened.values()].every((records) => records !== null));
  assert.ok(turns >= 5, `${turns}`);
});
