/** `ventanilla status`: one screen, or JSON with `ok` and `troubles`; the exit code is 1 where `ok` is false. */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/app/config/config.ts';
import { observe } from '../../src/app/observe.ts';
import { buildProgram } from '../../src/app/program.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { noteUpkeep, rememberMessageCounts } from '../../src/subjects/monitoring/sql/upkeep-jobs.ts';
import { readStatus } from '../../src/subjects/monitoring/uses/status.ts';
import { commandLine, Sink } from '../cli/harness.ts';
import { testDatabase } from '../support/database.ts';
import { openPool } from '../support/empty-database.ts';
import { PATIENCE_MS } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { makeRole } from '../support/runtime-role.ts';
import { TestClock } from '../support/test-clock.ts';

const store = await testDatabase();
const { database } = store;
const { run, roles } = commandLine(store);
const PLACE = 'DATA_DIR /srv/data';
const look = (
  fit: { fault: string | null; pending: { name: string }[] } = { fault: null, pending: [] },
  unfit: string | null = null,
  sessions = database,
) => readStatus({ database: sessions, place: PLACE, schema: async () => fit, roleFault: async () => unfit });
const codes = async () => (await look()).troubles.map(({ code }) => code);
const PERSON_KEYS = /phone|name|id_number|city/;

describe('status', () => {
  it('of a store that no process works on: no upkeep, but for the first two minutes', async () => {
    await database.query('UPDATE schema_migrations SET applied_at = now()');
    assert.deepEqual(await codes(), []);
    await database.query("UPDATE schema_migrations SET applied_at = now() - interval '121 seconds'");
    assert.deepEqual(await codes(), ['no_upkeep']);
  });

  it('tells a trouble with exit code 1', async () => {
    const { code, out } = await run('status', '--json');
    const { ok, troubles } = JSON.parse(out);
    assert.deepEqual(
      [code, ok, troubles[0].code, typeof troubles[0].text],
      [1, false, 'no_upkeep', 'string'],
    );
  });

  it('is well once a turn of the upkeep is noted: exit code 0', async () => {
    const ends = ['make partitions', 'advance usage'].map((name) => ({
      ...{ name, tookMs: 2.4, succeeded: true, why: null },
    }));
    await Promise.all([noteUpkeep(database, ends), noteUpkeep(database, ends.toReversed())]);
    const { code, out } = await run('status', '--json');
    assert.deepEqual([code, JSON.parse(out).ok, JSON.parse(out).troubles], [0, true, []]);
    assert.doesNotMatch(out, PERSON_KEYS);
    assert.match((await run('status')).out, /^ALL IS WELL\n/);
  });

  it('keeps the last success of a job that fails since', async () => {
    const read = async () => (await look()).facts?.jobs.find(({ job }) => job === 'advance usage');
    const before = await read();
    const failed = { name: 'advance usage', tookMs: 1, succeeded: false };
    await noteUpkeep(database, [{ ...failed, why: 'it is full' }]);
    const after = await read();
    assert.deepEqual(after?.succeededAt, before?.succeededAt);
    assert.ok(after?.failedAt instanceof Date);
    assert.equal(after.failedWhy, 'it is full');
    await noteUpkeep(database, [{ ...failed, why: null }]);
    assert.equal((await read())?.failedWhy, null, 'the reason is that of the last failure');
  });

  const MOVES: [code: string, bring: string, mend: string][] = [
    [
      'channel_broken',
      "UPDATE sender SET broken_at = now(), broken_reason = 'timeout'",
      'UPDATE sender SET broken_at = NULL',
    ],
    [
      'sender_paused',
      "UPDATE sender SET paused_at = now(), paused_reason = '131042'",
      'UPDATE sender SET paused_at = NULL',
    ],
    [
      'templates_paused',
      "INSERT INTO paused_templates (name, reason) VALUES ('offer', '132015')",
      'DELETE FROM paused_templates',
    ],
    [
      'messages_late',
      `INSERT INTO outbox VALUES (1, 1, now() - interval '1 hour', '{0}', 'o'), (2, 1, now(), '{0}', 'o')`,
      'DELETE FROM outbox',
    ],
    [
      'messages_late',
      `INSERT INTO waiting_messages VALUES ('queued', 1, now() - interval '1 hour', 1), ('queued', 2, now(), 1)`,
      'DELETE FROM waiting_messages',
    ],
    [
      'reviews_overdue',
      `INSERT INTO review_items (application_id, partner_id, created_at, due_at)
        VALUES (1, 1, now() - interval '26 hours', now() - interval '2 hours'), (2, 1, now(), now() + interval '1 day')`,
      'DELETE FROM review_items',
    ],
    [
      'proposals_unconfirmed',
      `INSERT INTO proposals (application_id, act, reason_code, reason, is_override, maker_id, decided_on, created_at,
          apply_at, needs_second)
        VALUES (1, 'approve', 'unspecified', 'x', false, 1, 0, now() - interval '2 days', now(), 'authority')`,
      'DELETE FROM proposals',
    ],
    [
      'cases_overdue',
      `INSERT INTO cases (kind, application_id, partner_id, due_at, window_until, seal_id, content)
        VALUES ('data', 1, 1, now() - interval '1 hour', now(), gen_random_uuid(), '\\x01'), ('data', 2, 1, now() + interval '1 day', now(), gen_random_uuid(), '\\x01')`,
      'DELETE FROM cases',
    ],
    [
      'replies_late',
      `INSERT INTO replies (application_id, turn, partner_id, phone_index, content, window_until, due_at, created_at)
        VALUES (1, 1, 1, 1, '\\x01', now() + interval '1 hour', now(), now() - interval '3 minutes')`,
      'DELETE FROM replies',
    ],
    [
      'contracts_blocked',
      `INSERT INTO loan_contracts (application_id, state, reason, elapsed_ms) VALUES (1, 'blocked', 'no_terms', 0)`,
      'DELETE FROM loan_contracts',
    ],
    [
      'replies_uncertain',
      `INSERT INTO replies (application_id, turn, partner_id, phone_index, content, window_until, due_at, changed_at, status)
        VALUES (1, 1, 1, 1, '\\x01', now() + interval '1 hour', now(), now() - interval '20 minutes', 'uncertain'),
          (2, 1, 1, 1, '\\x01', now() - interval '1 hour', now(), now() - interval '2 hours', 'uncertain')`,
      "UPDATE replies SET status = 'delivered' WHERE application_id = 1",
    ],
    [
      'inputs_late',
      `INSERT INTO conversation_inputs (conversation_id, application_id, source, seal_id, at, stored_at, settles_at, content)
        VALUES (1, 1, 'person', gen_random_uuid(), now(), now() - interval '10 minutes', now(), '\\x01')`,
      'UPDATE conversation_inputs SET turn = 1',
    ],
    [
      'scanner_away',
      `INSERT INTO conversation_work (conversation_id, application_id, partner_id, work, input_id, reason, queued_at)
        VALUES (1, 1, 1, 'read_document', 1, 'scanner', now() - interval '2 minutes')`,
      'DELETE FROM conversation_work',
    ],
    [
      'work_late',
      `INSERT INTO conversation_work (conversation_id, application_id, partner_id, work, reason, queued_at)
        VALUES (1, 1, 1, 'make_contract', 'http_503', now() - interval '10 minutes')`,
      'DELETE FROM conversation_work',
    ],
    [
      'work_failed',
      `INSERT INTO conversations (application_id, partner_id, phone_index, status, turn, held_by, state, waits_since)
        VALUES (1, 1, 1, 'pending_signature', 1, 'operator', '{"handedOver": "failure"}', now())`,
      'DELETE FROM conversations',
    ],
    [
      'conversations_held',
      `INSERT INTO conversations (application_id, partner_id, phone_index, status, turn, held_by, state, waits_since)
        VALUES (1, 1, 1, 'in_review', 1, 'operator', '{"handedOver": "asked"}', now() - interval '5 hours')`,
      'UPDATE conversations SET waits_since = NULL',
    ],
    [
      'contracts_unfinished',
      `INSERT INTO loan_contracts (application_id, state, elapsed_ms, signed_at)
        VALUES (1, 'signed', 0, now() - interval '1 hour')`,
      "UPDATE loan_contracts SET signed_sha256 = '\\x01'",
    ],
    [
      'documents_missing',
      `INSERT INTO documents (application_id, partner_id, purpose, state, file_key, missing_at)
        VALUES (1, 1, 'earnings', 'received', 'document-1', now())`,
      'UPDATE documents SET missing_at = NULL',
    ],
    [
      'documents_not_read',
      `INSERT INTO documents (application_id, partner_id, purpose, state, reason)
        VALUES (1, 1, 'earnings', 'received', 'reader_off')`,
      "UPDATE documents SET state = 'rejected' WHERE reason = 'reader_off'",
    ],
    [
      'terms_refused',
      "SELECT note_upkeep('{read the terms again}', '{1}', '{false}', '{NULL}')",
      "UPDATE upkeep_jobs SET failed_at = now() - interval '2 minutes', succeeded_at = now() WHERE job = 'read the terms again'",
    ],
    [
      'rows_forged',
      "SELECT note_upkeep('{check the rows of operators}', '{1}', '{false}', '{NULL}')",
      "UPDATE upkeep_jobs SET failed_at = now() - interval '7 minutes', succeeded_at = now() WHERE job = 'check the rows of operators'",
    ],
    [
      'messages_uncertain',
      `INSERT INTO waiting_messages VALUES ('uncertain', 1, now() - interval '2 hours', 1)`,
      'DELETE FROM waiting_messages',
    ],
    [
      'partitions_short',
      'UPDATE elapsed SET partitions_end = 1',
      'UPDATE elapsed SET partitions_end = 16777216',
    ],
    [
      'endpoints_disabled',
      `INSERT INTO partner_endpoints (partner_id, sealed, set_at, disabled_at, disabled_reason)
        VALUES (1, '', now(), now(), 'gone')`,
      "UPDATE partner_endpoints SET disabled_reason = 'operator'",
    ],
    [
      'endpoints_broken',
      `WITH broken AS (
          INSERT INTO partner_endpoints (partner_id, sealed, set_at, broken_at) VALUES (2, '', now(), now())
        ), told AS (INSERT INTO partner_event_totals (partner_id, last) VALUES (2, 7))
        INSERT INTO pushes (partner_id, number, application_id, queued_ms, set_at, due_at)
        VALUES (2, 5, 1, elapsed_ms() - 7200000, now(), now())`,
      'UPDATE partner_endpoints SET broken_at = NULL; DELETE FROM pushes',
    ],
    [
      'refusal_sweep',
      `INSERT INTO key_outcomes (hour, api_key_id, registered, duplicate, over_quota, invalid, unauthorized,
          remembered, forgotten, sweep_at) VALUES (date_trunc('hour', now()), 1, 0, 600, 0, 0, 0, 0, 0, now())`,
      'DELETE FROM key_outcomes',
    ],
    [
      'keys_differ',
      `INSERT INTO secret_checks (name, value, confirmed, seals_at)
        SELECT 'DATA_KEYS ' || n, gen_random_uuid(), true, now() FROM generate_series(8, 9) AS n`,
      "DELETE FROM secret_checks WHERE name = 'DATA_KEYS 9'",
    ],
    [
      'seals_near_bound',
      "UPDATE secret_checks SET seals = 3600000000, seals_at = now() WHERE name = 'DATA_KEYS 8'",
      "DELETE FROM secret_checks WHERE name = 'DATA_KEYS 8'",
    ],
    [
      'backup_failing',
      `INSERT INTO upkeep_jobs (job, failed_at, took_ms) VALUES ('base backup', now(), 0)`,
      // A job that no process runs any more is forgotten with the next turn.
      `UPDATE upkeep_jobs SET failed_at = now() - interval '3 days' WHERE job = 'base backup';
        SELECT note_upkeep('{}', '{}', '{}', '{}')`,
    ],
    [
      'backup_overdue',
      `INSERT INTO upkeep_jobs (job, succeeded_at, took_ms) VALUES ('base backup', now() - interval '30 hours', 0)`,
      "DELETE FROM upkeep_jobs WHERE job = 'base backup'",
    ],
    [
      'reseal_stuck',
      `INSERT INTO reseals (key_id, kind, step_from, next_at, started_at)
        VALUES (2, 'envelopes', '', now() - interval '1 hour', now())`,
      'UPDATE reseals SET finished_at = now()',
    ],
  ];
  for (const [code, bring, mend] of MOVES) {
    it(`${code}, and well again after: ${bring.split('\n')[0]}`, async () => {
      await database.query(bring);
      assert.deepEqual(await codes(), [code]);
      await database.query(mend);
      assert.deepEqual(await codes(), []);
    });
  }

  it('the channel accepts messages and delivers none: seen after an hour', async () => {
    const add = (status: string, count: number) =>
      database.query('INSERT INTO message_counts VALUES ($1, $2)', [status, count]);
    await add('delivered', 100);
    await rememberMessageCounts(database);
    await add('accepted', 30);
    await rememberMessageCounts(database);
    assert.deepEqual(await codes(), []);
    await database.query(
      `UPDATE message_count_hours
      SET hour = date_trunc('hour', now()) - interval '1 hour', counted_at = now() - interval '61 minutes'`,
    );
    assert.deepEqual(await codes(), ['messages_undelivered']);
    assert.equal((await look()).facts?.undelivered, 30);
    await add('accepted', -1);
    await add('delivered', 1);
    assert.deepEqual(await codes(), []);
  });

  it('counts of hours are kept for a day, and those of a clock that was ahead are not', async () => {
    await database.query(
      `INSERT INTO message_count_hours (hour, status, count) VALUES
        (date_trunc('hour', now()) - interval '25 hours', 'queued', 1),
        (date_trunc('hour', now()) + interval '2 hours', 'queued', 1)`,
    );
    await rememberMessageCounts(database);
    const { rows } = await database.query(
      `SELECT FROM message_count_hours WHERE hour < now() - interval '25 hours' OR hour > now()`,
    );
    assert.equal(rows.length, 0);
  });

  it('tells what waits for its hour, until when and where, apart from what is due', async () => {
    await database.query(
      `INSERT INTO waiting_messages SELECT 'queued', n, timestamptz '2030-01-07 12:00Z', 1 FROM generate_series(1, 1591) AS n`,
    );
    await database.query("INSERT INTO message_counts VALUES ('queued', 1600)");
    const until = '2030-01-07 12:00Z (07:00 in America/Bogota)';
    const { code, out } = await run('status');
    assert.equal(code, 0, 'it is no backlog');
    assert.match(out, /^for their hour +1591 queued, until 2030-01-07 12:00Z \(07:00 in America\/Bogota\)$/m);
    assert.match(
      (await run('message', 'count')).out,
      /1591 wait for their hour, until (.*)\.\nDue now: 9\.\n/,
    );
    assert.ok((await run('message', 'count')).out.includes(until));
    const { messages_later } = JSON.parse((await run('status', '--json')).out);
    assert.equal(messages_later.messages, 1591);
    await database.query('DELETE FROM waiting_messages');
    await database.query("INSERT INTO message_counts VALUES ('queued', -1600)");
    assert.match((await run('status')).out, /^for their hour +none waits$/m);
  });

  it('tells how the review queue stands: its age, what is overdue and what nobody holds', async () => {
    await database.query(
      `INSERT INTO review_items (application_id, partner_id, created_at, due_at, state, time_left, claimed_by, claimed_until)
       VALUES (1, 1, now() - interval '90 hours', 'infinity', 'pended', interval '1 hour', NULL, NULL),
         (2, 1, now() - interval '80 hours', now() - interval '70 hours', 'proposed', NULL, NULL, NULL),
         (3, 1, now() - interval '25 hours', now() - interval '50 minutes', 'waiting', NULL, NULL, NULL),
         (4, 1, now() - interval '24 hours', now() - interval '1 minute', 'waiting', NULL, 7, now() + interval '1 minute'),
         (5, 1, now() - interval '2 hours', now() + interval '9 hours', 'waiting', NULL, 7, now() - interval '1 minute')`,
    );
    const { reviews } = JSON.parse((await run('status', '--json')).out);
    const { oldest_seconds, overdue_seconds, ...counts } = reviews;
    assert.deepEqual(counts, {
      waiting: 3,
      unclaimed: 2,
      overdue: 2,
      unconfirmed: 0,
      unconfirmed_oldest_seconds: 0,
    });
    assert.ok(Math.abs(oldest_seconds - 25 * 3600) < 600, `${oldest_seconds}`);
    assert.ok(Math.abs(overdue_seconds - 50 * 60) < 600, `${overdue_seconds}`);
    const line = /^reviews +3 wait, the oldest for 25 h; overdue 2, held by nobody 2$/m;
    assert.match((await run('status')).out, line);
    await database.query('DELETE FROM review_items');
    assert.match((await run('status')).out, /^reviews +none waits$/m);
  });

  it('--watch shows it again until its reader leaves, and takes no --json', async () => {
    const screens: string[] = [];
    const stdout = new Writable({
      decodeStrings: false,
      write(text, _encoding, done) {
        screens.push(text);
        done(screens.length < 2 ? null : Object.assign(new Error('gone'), { code: 'EPIPE' }));
      },
    });
    const io = { stdout, stderr: new Sink(), exitCode: 0 };
    const clock = new TestClock();
    const watched = buildProgram(roles, io, clock).parseAsync(['status', '--watch'], { from: 'user' });
    await clock.untilTimers();
    await clock.advance(1_999);
    assert.deepEqual([screens.length, clock.timers], [1, 1]);
    await clock.advance(1);
    await watched;
    assert.deepEqual(
      screens.map((text) => text.split('\n')[0]),
      ['ALL IS WELL', 'ALL IS WELL'],
    );
    assert.equal((await run('status', '--watch', '--json')).code, 2);
  });

  it('names the store that it looked at', async () => {
    assert.match((await run('status')).out, /^store +DATA_DIR \/srv\/data$/m);
    assert.equal(JSON.parse((await run('status', '--json')).out).store, PLACE);
    assert.equal((await look({ fault: 'x', pending: [] })).place, PLACE);
  });

  it('a schema of another version, or one that is behind, is a trouble, and nothing is read', async () => {
    const fault = { fault: 'the database has migration x: update the service', pending: [] };
    const { troubles, facts } = await look(fault);
    assert.deepEqual([troubles, facts], [[{ code: 'schema_unfit', text: fault.fault, since: null }], null]);
    const behind = await look({ fault: null, pending: [{ name: '9999_new.sql' }] });
    assert.deepEqual([behind.troubles[0]?.code, behind.facts], ['schema_pending', null]);
  });

  it('a role that lacks privileges is a trouble, also where it keeps the status from being read', async () => {
    const { troubles, facts } = await look(undefined, 'the role lacks what the service needs');
    const text = 'the role lacks what the service needs';
    assert.deepEqual(troubles, [{ code: 'role_unfit', text, since: null }]);
    assert.notEqual(facts, null);
    const lost = openPool((await makeRole(store.ownerUrl)).url);
    const denied = await look(undefined, 'the role lacks it all', lost);
    assert.deepEqual([denied.troubles[0]?.code, denied.facts], ['role_unfit', null]);
  });

  it('a database that does not answer is a trouble', { timeout: PATIENCE_MS }, async () => {
    const url = `postgres://nobody:secret@127.0.0.1:${await freePort()}/none`;
    const config = readConfig({
      ...{ DATABASE_URL: url, CHANNEL: 'log', DATA_KEYS: `1:${Buffer.alloc(32, 1).toString('base64')}` },
      ...{
        INDEX_KEY: Buffer.alloc(32, 2).toString('base64'),
        API_KEY_PEPPER: Buffer.alloc(32, 3).toString('base64'),
      },
    });
    const io = { stdout: new Sink(), stderr: new Sink(), exitCode: 0 };
    const observed = {
      ...roles,
      observe: (work: Parameters<typeof roles.observe>[0]) => observe(config, machineClock, work),
    };
    await buildProgram(observed as typeof roles, io, machineClock).parseAsync(['status', '--json'], {
      from: 'user',
    });
    const out = io.stdout.text;
    const { ok, troubles } = JSON.parse(out);
    assert.deepEqual([io.exitCode, ok, troubles.length], [1, false, 1]);
    assert.equal(troubles[0].code, 'database_unreachable');
    assert.match(troubles[0].text, /ECONNREFUSED/);
    assert.doesNotMatch(out, /secret/);
  });
});
