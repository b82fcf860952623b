/**
 * In a large store, statements for operators and applicants read the rows that they need, by keys, and not all rows.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { type Database, inOneTransaction } from '../../src/ground/postgres/database.ts';
import { fromBigint } from '../../src/seal/blind-indexes.ts';
import { searchApplications } from '../../src/subjects/applications/sql/application-search.ts';
import { readApplicationDetails } from '../../src/subjects/applications/sql/applications.ts';
import {
  changeSelection,
  countSelection,
} from '../../src/subjects/messages/sql/changes/message-selection.ts';
import { recordInterest } from '../../src/subjects/messages/sql/interest.ts';
import { readMessages } from '../../src/subjects/messages/sql/message-walk.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const [id] = (await (
  await registrarOf(store)
)(key, [applicant({ phone: toPhone('+573001110001') })])) as [number];

const BATCHES = 5_000;
/** Copies of that application, as whole batches that wait in the outbox. */
await database.query(
  `WITH made AS (
    INSERT INTO batches SELECT nextval('batch_numbers'), b.created_at, gen_random_uuid(), b.partner_id, b.api_key_id,
      b.policy_id, false, NULL, array_fill(b.phones[1], ARRAY[100]), array_fill(b.id_numbers[1], ARRAY[100]),
      decode(repeat(encode(b.facts, 'hex'), 100), 'hex'), b.platforms, NULL
    FROM batches b, generate_series(1, $1) RETURNING id, partner_id
  )
  INSERT INTO outbox SELECT id, partner_id, now(), ARRAY(SELECT generate_series(0, 99)), repeat('a', 100) FROM made`,
  [BATCHES],
);
const FAILED = 3_000;
/** Other applications whose messages were delivered, and some whose messages failed. */
await database.query(
  `INSERT INTO message_records
  SELECT b.id * 128 + p, now(), now(), NULL, 'approved', CASE WHEN p % 33 = 7 THEN 'failed'::message_status ELSE 'delivered' END, 1, 1, 1
  FROM (SELECT id FROM batches ORDER BY id LIMIT 1000 OFFSET 1) AS b, generate_series(0, 99) AS p`,
);
await database.query(
  'INSERT INTO waiting_messages SELECT status, message_id, due_at, 1 FROM message_records WHERE is_waiting(status)',
);
await database.query('ANALYZE');

const ROWS_READ = `
  SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer AS rows
  FROM pg_stat_xact_user_tables WHERE relname ~ '^(batches|outbox|message_records)'`;

/** How many rows `work` reads from the tables that grow with the applications; undoes the work. */
async function rowsRead(work: (part: Database) => Promise<unknown>): Promise<number> {
  let read = 0;
  const undo = new Error('undo the work');
  await assert.rejects(
    inOneTransaction(database, async (part, session) => {
      const rows = async () => (await session.query<{ rows: number }>(ROWS_READ)).rows[0]!.rows;
      const before = await rows();
      await work(part);
      read = (await rows()) - before;
      throw undo;
    }),
    undo,
  );
  return read;
}

async function first(rows: AsyncGenerator<unknown>): Promise<void> {
  assert.equal((await rows.next()).done, false);
}

const tap = {
  applicationId: toApplicationId(id),
  phoneIndex: fromBigint<'phone'>('0'),
  contextIndex: null,
  at: new Date(),
};
const cases: [what: string, work: (session: Database) => Promise<unknown>, most: number][] = [
  ['an application', (session) => readApplicationDetails(session, vault, toApplicationId(id)), 20],
  ['a message', (session) => first(readMessages(session, { applicationId: toApplicationId(id) })), 20],
  ['a tap', (session) => recordInterest(session, [tap]), 20],
  ['the newest messages', (session) => first(readMessages(session, {})), 200],
  ['the newest queued messages', (session) => first(readMessages(session, { status: 'queued' })), 200],
  // Each application of a page takes a row of its own.
  ['the newest applications', (session) => first(searchApplications(session, vault, {})), 6_000],
];
for (const [what, work, most] of cases) {
  it(`${what} reads a few rows`, async () => {
    const read = await rowsRead(work);
    assert.ok(read <= most, `${read} rows`);
  });
}

it("a partner's queued messages take a row of the outbox and one of the batch each", async () => {
  const selection = { status: 'queued', reason: null, partnerId: partner } as const;
  const read = await rowsRead((session) => countSelection(session, selection));
  assert.ok(read <= 3 * BATCHES, `${read} rows`);
});

it('failed messages take a few rows each, to count them and to queue them again', async () => {
  const selection = { status: 'failed', reason: null, partnerId: null } as const;
  for (const work of [
    async (session: Database) => countSelection(session, selection),
    async (session: Database) => changeSelection(session, 'retry', selection),
  ]) {
    const read = await rowsRead(async (session) => assert.equal((await work(session)).ready, FAILED));
    assert.ok(read <= 5 * FAILED, `${read} rows`);
  }
});
