import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FieldName } from '../../src/domain/application/fields.ts';
import { type BatchId, toBatchId } from '../../src/domain/application/ids.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Session } from '../../src/ground/postgres/database.ts';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { Vault } from '../../src/seal/vault.ts';
import { openEnvelope, sealEnvelope } from '../../src/subjects/applications/sql/envelope.ts';
import { eachEnvelope } from '../../src/subjects/applications/sql/read-envelopes.ts';
import { trimSurplus } from '../../src/subjects/applications/sql/surplus.ts';
import { BATCH_RECEIPTS } from '../../src/subjects/applications/sql/tables.ts';
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
  await service.database.query("UPDATE batches SET created_at = now() - interval '1 minute' WHERE surplus");
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

test('D53: what a partner tells about the consent lies in the envelope; one without it has no room for it', async () => {
  const consent = {
    consent_at: '2026-11-20T14:05:00-05:00',
    consent_text: 'Autorizo',
    consent_channel: 'app',
  };
  const told = await send([anApplication(), anApplication(consent)]);
  const batch = await batchOf(told.results[0]!.id);
  const records = openEnvelope(service.vault, batch.seal_id, batch.envelope);
  const { consent_at, consent_text, consent_channel } = records[1]!;
  assert.deepEqual({ consent_at, consent_text, consent_channel }, consent);
  assert.ok(!('consent_at' in records[0]!));
  const untold = await batchOf((await send([anApplication()])).results[0]!.id);
  assert.doesNotMatch(service.vault.open(untold.envelope, `batch:${untold.seal_id}`).toString(), /consent/);
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

test('the upkeep trims an envelope that a crash left whole, by the row of its batch', async () => {
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
  await service.database.query(
    'UPDATE batches SET envelope = $2, surplus = true, created_at = now() WHERE id = $1',
    [batch.id, whole],
  );
  const days = 2 * 24 * 60 * 60_000;
  await service.database.query('UPDATE batch_receipts SET stored_ms = stored_ms - $1', [days]);
  await forgetRows(service.database, BATCH_RECEIPTS);
  assert.deepEqual(await trimSurplus(service.database, service.vault, machineClock), []);
  assert.equal((await batchOf(id)).surplus, true, 'the answer may still be under way');
  await passAMinute();
  assert.deepEqual(await trimSurplus(service.database, service.vault, machineClock), []);
  assert.deepEqual(await namesIn(id), { 1: 'Queda', 3: 'Sigue' });
  assert.equal((await batchOf(id)).surplus, false);
});

test('an envelope opens for its own batch only', async () => {
  const one = (await send([anApplication()])).results[0] as { id: number };
  const two = (await send([anApplication()])).results[0] as { id: number };
  const [a, b] = [await batchOf(one.id), await batchOf(two.id)];
  assert.throws(() => openEnvelope(service.vault, a.seal_id, b.envelope), /unable to authenticate data/);
  const read: BatchId[] = [];
  const ids = [toBatchId(a.id), toBatchId(a.id), toBatchId(b.id)];
  await eachEnvelope(service.database, service.vault, ids, { fields: ['name'] }, (id) => read.push(id));
  assert.deepEqual(read.sort(), [a.id, b.id].sort());
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
  const sealIdOf = async (id: string) =>
    (await service.database.query('SELECT seal_id FROM batches WHERE id = $1', [id])).rows[0].seal_id;
  // More than one chunk.
  const { rows } = await service.database.query<{ id: string }>(
    `WITH copies AS (
      INSERT INTO batches SELECT (json_populate_record(b, json_build_object('id', nextval('batch_numbers'),
        'seal_id', gen_random_uuid(), 'envelope', '\\x0102', 'surplus', true))).*
      FROM batches b, generate_series(1, 150) WHERE b.id = $1 RETURNING id, seal_id
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
  const { rows: others } = await service.database.query('SELECT envelope FROM batches WHERE id = $1', [last]);
  await service.database.query('UPDATE batches SET envelope = $2 WHERE id = $1', [
    foreign,
    others[0].envelope,
  ]);
  await passAMinute();
  const unreadable = [...bad, ...rows.map(({ id }) => id)].sort();
  assert.deepEqual((await trimSurplus(service.database, service.vault, machineClock)).toSorted(), unreadable);
  const surplus = async (id: string) =>
    (await service.database.query('SELECT surplus FROM batches WHERE id = $1', [id])).rows[0].surplus;
  assert.equal(await surplus(last), false);
  assert.equal(await surplus(foreign), true);
  assert.deepEqual(await trimSurplus(service.database, service.vault, machineClock), []);
  await service.database.query(
    "UPDATE batches SET unreadable_at = now() - interval '61 minutes' WHERE unreadable_at IS NOT NULL",
  );
  assert.deepEqual((await trimSurplus(service.database, service.vault, machineClock)).toSorted(), unreadable);
  // As after a step of the clock back.
  await service.database.query(
    "UPDATE batches SET unreadable_at = now() + interval '1 day' WHERE unreadable_at IS NOT NULL",
  );
  assert.deepEqual((await trimSurplus(service.database, service.vault, machineClock)).toSorted(), unreadable);
});

test('of an envelope any fields are read, whatever their values are', async () => {
  const piece = fc.constantFrom(
    ...['"', '\\', '],"', ']', '[', ',', '":[', '{"name":[', '],"city":["', 'x', '\u{1F600}', 'ñ'],
  );
  const text = fc.array(piece, { minLength: 1, maxLength: 40 }).map((pieces) => pieces.join(''));
  const fields: FieldName[] = ['name', 'id_number', 'city', 'phone'];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ name: text, id_number: text, city: text, phone: fc.option(text) }), {
        minLength: 1,
        maxLength: 100,
      }),
      fc.subarray(fields, { minLength: 1 }),
      async (people, wanted) => {
        const applicants = people.map((application, position) => ({ position, application }));
        const envelope = sealEnvelope(service.vault, 'some', applicants);
        const rows = [{ id: toBatchId(1), seal_id: 'some', envelope }];
        const session = { query: async () => ({ rows }) } as unknown as Session;
        await eachEnvelope(session, service.vault, [toBatchId(1)], { fields: wanted }, (_, columns) => {
          assert.deepEqual(
            columns,
            Object.fromEntries(wanted.map((name) => [name, people.map((person) => person[name as 'name'])])),
          );
        });
      },
    ),
  );
});

/** Applicants with all values at their maximum lengths, which do not compress. */
function longestApplicants() {
  const text = (length: number) =>
    String.fromCodePoint(...Array.from({ length }, () => 0x2_0000 + Math.floor(Math.random() * 0xa000)));
  return Array.from({ length: 100 }, () =>
    anApplication({ name: text(200), id_number: text(64), city: text(120) }),
  );
}

/** Twenty batches more, so many numbers on, with the envelope and the indexes of this application's batch. */
const COPY = `
  INSERT INTO batches SELECT (jsonb_populate_record(b, jsonb_build_object('id', b.id + n))).*
  FROM batches b, generate_series($2::bigint + 1, $2::bigint + 20) AS n WHERE b.id = $1
  RETURNING id`;

test('the largest envelopes are read about 1 MiB at a time, opened one by one, and other requests come between', async () => {
  const { id } = (await send(longestApplicants())).results[0] as { id: number };
  const ids: BatchId[] = [];
  // In parts: on a busy machine one statement for all of them takes longer than a statement may.
  for (let on = 0; on < 200; on += 20) {
    const { rows } = await service.database.query<{ id: string }>(COPY, [Math.floor(id / 128), on]);
    ids.push(...rows.map((row) => toBatchId(row.id)));
  }
  const [bytes, costs]: [number[], number[][]] = [[], []];
  const query = async (text: string, values: unknown[]) => {
    const result = await service.database.query<{ envelope?: Buffer }>(text, values);
    bytes.push(result.rows.reduce((sum, { envelope }) => sum + (envelope?.length ?? 0), 0));
    return result;
  };
  let turns = 0;
  let counter = setImmediate(function count() {
    turns += 1;
    counter = setImmediate(count);
  });
  const opened = new Set<BatchId>();
  await eachEnvelope(
    { query } as unknown as Session,
    service.vault,
    ids,
    { fields: ['id_number'], pace: async (...cost) => void costs.push(cost) },
    (batchId, columns) => {
      assert.ok(columns !== null && columns !== 'unknown_key');
      assert.equal(columns.id_number?.length, 100);
      opened.add(batchId);
    },
  );
  clearImmediate(counter);
  assert.deepEqual([...opened].sort(), ids.toSorted());
  assert.ok(Math.max(...bytes) <= 1024 * 1024, `${Math.max(...bytes)} bytes`);
  assert.deepEqual(
    bytes.filter((size) => size > 0),
    costs.map(([, size]) => size),
  );
  assert.equal(
    costs.reduce((sum, [envelopes]) => sum + envelopes!, 0),
    200,
  );
  assert.ok(turns >= 20, `${turns}`);
});
