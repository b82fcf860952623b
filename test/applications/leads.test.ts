/** Leads among many reviewed applications: the list reads the rows of the leads, by their index. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { searchLeads } from '../../src/subjects/applications/sql/leads.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
await (await registrarOf(store))(key, [applicant({ phone: toPhone('+573001110001') })]);

const STATES = 100_000;
const LEADS = 1_200;
await database.query(
  `WITH made AS (
    INSERT INTO batches SELECT nextval('batch_numbers'), b.created_at, gen_random_uuid(), b.partner_id + n % 2,
      b.api_key_id, b.policy_id, false, NULL, array_fill(b.phones[1], ARRAY[100]),
      array_fill(b.id_numbers[1], ARRAY[100]), decode(repeat(encode(b.facts, 'hex'), 100), 'hex'), b.platforms, NULL
    FROM batches b, generate_series(1, $1 / 100) AS n RETURNING id
  )
  INSERT INTO application_states (batch_id, application_id, status)
  SELECT m.id, m.id * 128 + p, 'disbursed' FROM made m, generate_series(0, 99) AS p`,
  [STATES],
);
await database.query("INSERT INTO partners (id, name, country) VALUES ($1, 'Bolt', 'MX')", [partner + 1]);
const { rows: chosen } = await database.query(
  'SELECT application_id AS id FROM application_states ORDER BY application_id * 7919 % 104729 LIMIT $1',
  [LEADS],
);
/** The interests are a microsecond apart, and each two are of one moment. */
await database.query(
  `INSERT INTO application_states (batch_id, application_id, status, interested_at)
  SELECT id >> 7, id, status, at FROM unnest($1::bigint[], $2::application_status[], $3::timestamptz[]) AS g(id, status, at)
  ON CONFLICT (batch_id, application_id) DO UPDATE
  SET status = excluded.status, interested_at = excluded.interested_at`,
  [
    chosen.map(({ id }) => id),
    chosen.map((_, n) => (n % 3 === 0 ? 'in_review' : 'disbursed')),
    chosen.map((_, n) => `2026-11-01T00:00:00.${String(Math.floor(n / 2)).padStart(6, '0')}Z`),
  ],
);
await database.query('ANALYZE');

const all = async (filter: Partial<Parameters<typeof searchLeads>[2]>, session = database) => {
  const found = [];
  const whole = { since: null, partnerId: null, status: null, ...filter };
  for await (const lead of searchLeads(session, vault, whole)) found.push(lead);
  return found;
};

it('leads come each once, newest interest first, also where many are of one moment', async () => {
  const { rows } = await database.query(
    `SELECT s.application_id::float8 AS id, b.partner_id, s.status FROM application_states s
    JOIN batches b ON b.id = s.batch_id WHERE interested_at IS NOT NULL
    ORDER BY interested_at DESC, application_id DESC`,
  );
  assert.equal(rows.length, LEADS);
  const ids = (list: readonly { id: number }[]) => list.map(({ id }) => id);
  assert.deepEqual(ids(await all({})), ids(rows));
  assert.deepEqual(
    ids(await all({ partnerId: partner })),
    ids(rows.filter((row) => row.partner_id === partner)),
  );
  assert.deepEqual(
    ids(await all({ status: 'in_review' })),
    ids(rows.filter((row) => row.status === 'in_review')),
  );
});

const ROWS_READ = `
  SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer AS rows
  FROM pg_stat_xact_user_tables WHERE relname ~ '^(batches|application_states)'`;

it('the list reads a few rows for each lead, whatever else is stored, and with any filter', async () => {
  for (const filter of [
    {},
    { partnerId: partner },
    { status: 'in_review' as const },
    { partnerId: partner, status: 'in_review' as const, since: new Date('2026-11-01') },
  ]) {
    const client = await database.connect();
    const session = client as unknown as Database;
    await session.query('BEGIN');
    const before = (await session.query(ROWS_READ)).rows[0].rows;
    await all(filter, session);
    const read = (await session.query(ROWS_READ)).rows[0].rows - before;
    await session.query('ROLLBACK');
    client.release();
    assert.ok(read <= 8 * LEADS, `${read} rows`);
  }
});
