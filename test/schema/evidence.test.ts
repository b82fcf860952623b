/**
 * What the role of the service cannot take away, also by the functions that run as the owner: signed contracts and
 * their evidence (D46), the history, the records of messages, the record of acts (docs/roles.md, SECURITY.md).
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { noting } from '../../src/program/operations/acting.ts';
import { commandLine } from '../cli/harness.ts';
import { testDatabase } from '../support/database.ts';
import { RUNTIME_ROLE } from '../support/runtime-role.ts';
import { shifted } from '../support/shifted.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const { run } = commandLine(store);
const DENIED = { code: '42501' };
const attack = (sql: string, values: unknown[] = []) => runtime.query(sql, values);
let application = 0;

/** A contract in a state, with three rows of evidence. The application is made up: none of this reads it. */
async function contract(state: 'open' | 'signed' | 'withdrawn'): Promise<number> {
  application += 1;
  const isSigned = state !== 'open';
  await database.query(
    `INSERT INTO loan_contracts (application_id, state, elapsed_ms, terms, shown_key, sealed, sha256, signed_at)
     VALUES ($1, $2, 0, '{}', 'a', '\\x01', '\\x02', CASE WHEN $3 THEN now() END)`,
    [application, state, isSigned],
  );
  if (isSigned) {
    await database.query(
      `UPDATE loan_contracts SET disbursed_on = '2026-01-01', schedule_key = 'c', schedule_sha256 = '\\x04'
       WHERE application_id = $1`,
      [application],
    );
    await database.query(
      `INSERT INTO disbursements (application_id, contract_id, number, kind, value_date, recorded_by, content)
       SELECT application_id, id, 1, 'paid', '2026-01-01', 'ana', '\\x01' FROM loan_contracts WHERE application_id = $1`,
      [application],
    );
  }
  await database.query(
    `INSERT INTO contract_evidence (application_id, number, recorded_at, kind, facts, key_number, mac)
     SELECT $1, n, now(), 'shown', '{}', 0, decode(repeat('00', 32), 'hex') FROM generate_series(1, 3) AS n`,
    [application],
  );
  return application;
}

const evidence = async (id: number) =>
  (await database.query('SELECT FROM contract_evidence WHERE application_id = $1', [id])).rowCount;
const stateOf = async (id: number) =>
  (await database.query('SELECT state FROM loan_contracts WHERE application_id = $1', [id])).rows[0]?.state;
/** An erasure of one's own, as the role may store one. */
async function erasure(...ids: number[]): Promise<string> {
  const id = randomUUID();
  await attack('INSERT INTO erasures (id, erased_at, application_ids, seal_ids) VALUES ($1, now(), $2, $3)', [
    ...[id, ids, ids.map(() => randomUUID())],
  ]);
  return id;
}

describe('a signed contract (D46)', () => {
  for (const state of ['signed', 'withdrawn'] as const) {
    it(`that is ${state} is not deleted, and nothing of it is changed`, async () => {
      const id = await contract(state);
      for (const change of [
        "state = 'expired'",
        "state = 'open'",
        "state = 'dropped'",
        "signed_at = now() - interval '10 years'",
        'elapsed_ms = -1000000000000',
        "terms = '{}'::jsonb || '{\"a\": 1}'",
        'sealed = NULL',
        "sha256 = '\\x03'",
        "shown_key = 'b'",
        "disbursed_on = '2026-01-02'",
        "schedule_key = 'b', schedule_sha256 = '\\x05'",
        'application_id = application_id + 1000000',
        `made_at = ${shifted('made_at', "interval '-10 years'")}`,
      ])
        await assert.rejects(
          attack(`UPDATE loan_contracts SET ${change} WHERE application_id = $1`, [id]),
          DENIED,
          change,
        );
      await assert.rejects(attack('DELETE FROM loan_contracts WHERE application_id = $1', [id]), DENIED);
      await assert.rejects(attack('TRUNCATE loan_contracts'), DENIED);
      assert.deepEqual([await stateOf(id), await evidence(id)], [state, 3]);
    });
  }

  it('is withdrawn, finished once and sealed again, as the service does it', async () => {
    const id = await contract('signed');
    const set = (what: string) => attack(`UPDATE loan_contracts SET ${what} WHERE application_id = $1`, [id]);
    await set("finishing_at = now(), signed_key = 'c'");
    await set("signed_sha256 = '\\x04'");
    await assert.rejects(set("signed_sha256 = '\\x05'"), DENIED);
    await assert.rejects(set("signed_key = 'd'"), DENIED);
    await set("sealed = '\\x0202'");
    await set("state = 'withdrawn', withdrawn_at = now()");
    await assert.rejects(set("state = 'signed', withdrawn_at = NULL"), DENIED);
    assert.equal(await stateOf(id), 'withdrawn');
  });

  it('is signed now, and not long ago', async () => {
    const id = await contract('open');
    const sign = (at: string) =>
      attack(`UPDATE loan_contracts SET state = 'signed', signed_at = ${at} WHERE application_id = $1`, [id]);
    await assert.rejects(sign("now() - interval '6 years'"), DENIED);
    await assert.rejects(sign('NULL'), DENIED);
    await sign('now()');
    assert.equal(await stateOf(id), 'signed');
  });

  it('keeps its evidence, whatever the functions of the owner are told', async () => {
    const [signed, open] = [await contract('signed'), await contract('open')];
    const drop = (id: number, of: string) => attack('SELECT drop_contracts($1, $2) AS id', [[id], of]);
    for (const other of [randomUUID(), await erasure(), await erasure(open)])
      await assert.rejects(drop(signed, other), DENIED);
    const own = await erasure(signed, open);
    assert.deepEqual((await drop(signed, own)).rows, [{ id: `${signed}` }]);
    // Fifty years by the time that the role may write.
    await attack('UPDATE elapsed SET ms = ms + 1577880000000');
    assert.equal((await attack('SELECT forget_contracts(1) AS count')).rows[0].count, 0);
    assert.equal((await attack('SELECT forget_contracts(NULL) AS count')).rows[0].count, 0);
    assert.deepEqual([await stateOf(signed), await evidence(signed)], ['signed', 3]);
    // An erasure takes the evidence of what nobody signed, and stays itself.
    await drop(open, own);
    assert.deepEqual([await stateOf(open), await evidence(open)], ['dropped', 0]);
    for (const sql of [
      'DELETE FROM erasures',
      'UPDATE erasures SET application_ids = NULL',
      'TRUNCATE erasures',
    ])
      await assert.rejects(attack(sql), DENIED);
  });

  it('goes after its term', async () => {
    const id = await contract('signed');
    await database.query(
      "UPDATE loan_contracts SET signed_at = now() - interval '6 years', elapsed_ms = -1e15 WHERE application_id = $1",
      [id],
    );
    assert.equal((await attack('SELECT forget_contracts(5) AS count')).rows[0].count, 1);
    assert.deepEqual([await stateOf(id), await evidence(id)], ['dropped', 0]);
    const remove = (which: string) =>
      attack(`SELECT delete_dropped_contract(id) FROM loan_contracts WHERE state = '${which}'`);
    const lines = async () =>
      (await database.query('SELECT FROM disbursements WHERE application_id = $1', [id])).rowCount;
    await remove('signed');
    assert.deepEqual([await stateOf(id), await lines()], ['dropped', 1]);
    await remove('dropped');
    assert.deepEqual([await stateOf(id), await lines()], [undefined, 0]);
  });

  it('keeps the lines of its payment: nobody changes one, and the role deletes none', async () => {
    const id = await contract('signed');
    const change = 'UPDATE disbursements SET value_date = value_date + 1 WHERE application_id = $1';
    await assert.rejects(attack(change, [id]), DENIED);
    await assert.rejects(database.query(change, [id]), DENIED);
    await assert.rejects(attack('DELETE FROM disbursements WHERE application_id = $1', [id]), DENIED);
    await assert.rejects(database.query('TRUNCATE disbursements'), DENIED);
  });
});

describe('what a row is of evidence, audit or history', () => {
  it('the role adds, and neither changes nor deletes', async () => {
    for (const table of [
      'contract_evidence',
      'disbursements',
      'application_events',
      'operator_events',
      'erasures',
      'policies',
      'policy_activations',
      'policy_backtests',
    ])
      for (const verb of ['UPDATE', 'DELETE', 'TRUNCATE'])
        assert.equal(
          (await database.query('SELECT has_table_privilege($1, $2, $3) AS may', [RUNTIME_ROLE, table, verb]))
            .rows[0].may,
          false,
          `${verb} on ${table}`,
        );
  });

  it('a reason and a record of a message go by a stored erasure of the same application alone', async () => {
    const other = await erasure(7_000);
    for (const wrong of [randomUUID(), other]) {
      await assert.rejects(attack("SELECT erase_reasons('{900}', $1)", [wrong]), DENIED);
      await assert.rejects(attack("SELECT erase_begun_messages('{900}', true, $1)", [wrong]), DENIED);
    }
    await attack("SELECT erase_reasons('{7000}', $1)", [other]);
    await attack("SELECT erase_begun_messages('{7000}', true, $1)", [other]);
  });
});

describe('the record of acts', () => {
  const context = { database: runtime, vault, clock: machineClock, actor: 'ana' };
  const put = (id: number | string) =>
    attack(
      `INSERT INTO operator_events (id, at, actor, act, key_number, mac)
       VALUES ($1, now(), 'mallory', 'nothing', 0, decode(repeat('00', 32), 'hex'))`,
      [id],
    );
  const verify = async () => JSON.parse((await run('audit', 'verify', '--json')).out);

  it('goes on after a wrong row or a head that was moved, and audit verify names each of them', async () => {
    await noting(context, { act: 'one' }, { act: 'two' });
    assert.deepEqual(await verify(), { ok: true, events: 2, misfits: [], misfit_count: 0 });
    // Behind the end: at once, and further away.
    await put(3);
    await put(6);
    await noting(context, { act: 'three' }, { act: 'four' });
    await noting(context, { act: 'five' });
    const { ok, events, misfits } = await verify();
    assert.deepEqual([ok, events], [false, 5]);
    assert.deepEqual(
      misfits.map(({ id, fault }: { id: number; fault: string }) => [id, fault]),
      [
        [3, 'the row was changed or put in'],
        [6, 'the row was changed or put in'],
      ],
    );
    for (const [id, mac] of [
      [0, '00'],
      [999_999, '11'],
      [2, '22'],
    ]) {
      await attack("UPDATE operator_events_head SET event_id = $1, mac = decode(repeat($2, 32), 'hex')", [
        id,
        mac,
      ]);
      await noting(context, { act: 'later' });
    }
    const after = await verify();
    assert.deepEqual([after.ok, after.events >= 8], [false, true]);
    assert.match(
      (await run('audit', 'verify')).out,
      /^Row 3 does not fit: .*\nRow 6 [\s\S]*The record is not intact: \d+ faults/,
    );
  });

  it('goes on where somebody has put a row at the end of all numbers, and the head there', async () => {
    const last = Number.MAX_SAFE_INTEGER;
    await attack(
      "UPDATE operator_events_head SET event_id = 3000000000, mac = decode(repeat('33', 32), 'hex')",
    );
    await noting(context, { act: 'after a head of more than 31 bits' });
    await put(last);
    await attack("UPDATE operator_events_head SET event_id = $1, mac = decode(repeat('00', 32), 'hex')", [
      last,
    ]);
    const { events } = await verify();
    await noting(context, { act: 'after the end' }, { act: 'and again' });
    const after = await verify();
    assert.deepEqual([after.ok, after.events], [false, events + 2]);
    assert.ok(after.misfits.some(({ fault }: { fault: string }) => /put in behind the end/.test(fault)));
  });

  it('bad input: takes no row that a reader could not hold', async () => {
    // From a worker of Citus the code is not told.
    const REFUSED = /violates check constraint/;
    for (const id of [0, -1, '9007199254740992', '9223372036854775807'])
      await assert.rejects(put(id), REFUSED);
    for (const [column, value] of [
      ['at', "'infinity'"],
      ['at', "'4000-01-01 BC'"],
      ['mac', "'\\x00'"],
      ['reason', "repeat('x', 20001)"],
    ])
      await assert.rejects(
        attack(`INSERT INTO operator_events (id, at, actor, act, reason, key_number, mac)
          SELECT 500, ${column === 'at' ? value : 'now()'}, 'm', 'x', ${column === 'reason' ? value : 'NULL'}, 0,
            ${column === 'mac' ? value : "decode(repeat('00', 32), 'hex')"}`),
        REFUSED,
        column,
      );
    await assert.rejects(attack('UPDATE operator_events_head SET event_id = 9007199254740992'), REFUSED);
  });
});
