/**
 * Who writes the database as the service does, and has no secret, gets nothing by it: no session, no account, no role,
 * no link, no API key (D2, D48; SECURITY.md). Rows that the service has not written are refused and told, and others
 * go on.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { Type } from 'typebox';
import type { Service } from '../../src/program/subject/subject.ts';
import { MACED_KINDS, type RowKind, rowMac } from '../../src/seal/row-macs.ts';
import { OPERATORS_SERVICE } from '../../src/subjects/operators/service.ts';
import {
  newRecoveryCodes,
  newSession,
  newToken,
  recoveryDigest,
} from '../../src/subjects/operators/uses/tokens.ts';
import { PARTNERS_SERVICE } from '../../src/subjects/partners/service.ts';
import { Credentials } from '../../src/subjects/partners/sql/credentials.ts';
import { route } from '../../src/wire/operator/route.ts';
import { commandLine } from '../cli/harness.ts';
import { PASSWORD, startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { remac } from '../support/remac.ts';
import { shifted } from '../support/shifted.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const { json, run } = commandLine(store);
const OPEN = Type.Object({});
const FOR = (['viewer', 'admin'] as const).map((access) =>
  route({
    ...{ method: 'GET', path: `/samples/${access}`, access, reply: OPEN, summary: `Answers ${access}.` },
    run: async () => ({ body: {} }),
  }),
);
const desk = await startTestConsole(store, FOR);
let serial = 0;
const someone = (role: 'viewer' | 'reviewer' | 'admin' = 'viewer') =>
  desk.enrolled(`somebody${++serial}`, role);

/** What the attacker runs: the service's own role, without its secrets. */
const attack = (sql: string, values: unknown[] = []) => runtime.query(sql, values);
const later = (column: string) => shifted(column, "interval '1 second'");
const statusOf = async (cookie: string | null, path = '/api/session') => {
  const visitor = desk.visitor();
  visitor.cookie = cookie;
  return (await visitor.ask('GET', path)).status;
};

/** Runs the job of the upkeep that tells of forged rows; what it has logged, and whether it failed. */
async function checked(service: Service): Promise<{ failed: boolean; lines: object[] }> {
  const lines: object[] = [];
  const log = { error: (facts: object) => lines.push(facts) };
  const job = service.upkeep!.find(({ name }) => name.startsWith('check the rows'))!;
  const failed = await job.run({ database: runtime, vault, log } as never).then(
    () => false,
    () => true,
  );
  return { failed, lines };
}

describe('a session', () => {
  it('that somebody puts into the table opens nothing: of any operator, with any MAC', async () => {
    const boss = await someone('admin');
    const own = await someone();
    const { cookie: ownCookie } = await own.signIn();
    const [{ mac: ownMac }] = (
      await attack('SELECT mac FROM operator_sessions WHERE operator_id = $1', [own.id])
    ).rows as [{ mac: Buffer }];
    for (const mac of [Buffer.alloc(0), Buffer.alloc(32), ownMac]) {
      const { cookie, key } = newSession();
      await attack(
        `INSERT INTO operator_sessions (id, secret, operator_id, is_whole, mac) VALUES ($1, $2, $3, true, $4)`,
        [key.id, key.secretDigest, boss.id, mac],
      );
      assert.equal(await statusOf(`ventanilla=${cookie}`), 401);
    }
    assert.equal(await statusOf(ownCookie), 200, 'the others go on');
  });

  for (const [what, change] of [
    ['another operator', 'operator_id = $2'],
    ['both factors', 'is_whole = NOT is_whole, operator_id = operator_id + 0 * $2'],
    ['a later beginning', `started_at = ${later('started_at')}, operator_id = operator_id + 0 * $2`],
    ['a later use', `seen_at = ${later('seen_at')}, operator_id = operator_id + 0 * $2`],
    ['a newer proof', `proved_at = ${later('proved_at')}, operator_id = operator_id + 0 * $2`],
    ['another secret', "secret = sha256('x'), operator_id = operator_id + 0 * $2"],
  ] as const) {
    it(`that is given ${what} is over`, async () => {
      const boss = await someone('admin');
      const { id, signIn } = await someone();
      const { cookie } = await signIn();
      assert.equal(await statusOf(cookie), 200);
      await attack(`UPDATE operator_sessions SET ${change} WHERE operator_id = $1`, [id, boss.id]);
      assert.equal(await statusOf(cookie), 401);
    });
  }

  it('goes on while it is used, and its use is written with a MAC', async () => {
    const { id, signIn } = await someone();
    const visitor = await signIn();
    await database.query(
      "UPDATE operator_sessions SET seen_at = now() - interval '20 minutes' WHERE operator_id = $1",
      [id],
    );
    await remac(store);
    const active = { 'Operator-Active': 'true' };
    for (const _ of [1, 2])
      assert.equal((await visitor.ask('GET', '/api/session', undefined, active)).status, 200);
    assert.equal((await checked(OPERATORS_SERVICE)).failed, (await forged()) > 0);
  });

  it('of before an enrolment does not come back with its row', async () => {
    const { id, login, signIn } = await someone();
    const { cookie } = await signIn();
    const kept = (await attack('SELECT * FROM operator_sessions WHERE operator_id = $1', [id])).rows[0];
    const { link } = await json('operator', 'reset-factors', login);
    const token = new URL(link.replace('#', '?')).searchParams.get('token')!;
    const visitor = desk.visitor();
    assert.equal((await visitor.ask('POST', '/api/enrolment', { token, password: PASSWORD })).status, 200);
    await attack('UPDATE operators SET enrolled_at = now() WHERE id = $1', [id]);
    await remac(store);
    await attack(
      `INSERT INTO operator_sessions SELECT * FROM jsonb_populate_record(NULL::operator_sessions, $1)`,
      [JSON.stringify({ ...kept, ...hexOf(kept, ['id', 'secret', 'mac']) })],
    );
    assert.equal(await statusOf(cookie), 401);
  });
});

/** How many rows have no MAC of the service by now. */
const forged = async () => {
  const { lines } = await checked(OPERATORS_SERVICE);
  return lines.reduce((sum, line) => sum + (line as { forged: number }).forged, 0);
};
const hexOf = (row: Record<string, Buffer>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, `\\x${row[name]!.toString('hex')}`]));

describe('an account', () => {
  for (const [what, change] of [
    ['role', "role = 'admin'"],
    ['authority', `authority = '{"COP": "99999999999999"}'`],
    ['login', "login = login || 'x'"],
    ['password', "password = 'x'"],
    ['second factor', 'totp = NULL'],
    ['last code', 'totp_step = totp_step + 1'],
    ['recovery codes', "recovery_codes = sha256('x')"],
    ['identity', "issuer = 'https://evil.example', subject = 'x' || id"],
    ['link', "enrolment = sha256('x' || login::bytea), enrolment_ends = now() + interval '1 hour'"],
    ['enrolment', "enrolled_at = now() + interval '1 second'"],
  ] as const) {
    it(`whose ${what} somebody changes may do nothing, and its sessions are over`, async () => {
      const { id, login, signIn, nextCode } = await someone('reviewer');
      const { cookie } = await signIn();
      await attack(`UPDATE operators SET ${change} WHERE id = $1`, [id]);
      assert.equal(await statusOf(cookie), 401);
      const visitor = desk.visitor();
      await visitor.ask('POST', '/api/session', { login, password: PASSWORD });
      assert.notEqual(
        (await visitor.ask('POST', '/api/session/totp', { code: await nextCode() })).status,
        200,
      );
      const shown = (await json('operator', 'list')).find((one: { id: number }) => one.id === id);
      assert.equal(shown.forged, true);
      for (const args of [
        ['role', shown.login, '--role', 'viewer'],
        ['reset-factors', shown.login],
      ]) {
        const { code, err } = await run('operator', ...args);
        assert.equal(code, 1);
        assert.match(err, /was changed in the database by somebody without the keys of this service/);
      }
      const { failed, lines } = await checked(OPERATORS_SERVICE);
      assert.equal(failed, true);
      assert.ok(lines.some((line) => (line as { names: string[] }).names.includes(String(id))));
      assert.equal((await json('operator', 'disable', shown.login)).forged, false);
    });
  }

  it('that is disabled does not come back', async () => {
    const { id, login, signIn } = await someone('admin');
    const { cookie } = await signIn();
    await someone('admin');
    await json('operator', 'disable', login);
    await attack('UPDATE operators SET disabled_at = NULL WHERE id = $1', [id]);
    assert.equal(await statusOf(cookie), 401);
    assert.equal((await json('operator', 'list')).find((one: { id: number }) => one.id === id).forged, true);
  });

  it('with factors of another one, or with a link of somebody’s own, is no way in', async () => {
    const boss = await someone('admin');
    const own = await someone();
    await attack(
      `UPDATE operators o SET password = e.password, totp = e.totp, recovery_codes = e.recovery_codes, mac = e.mac
       FROM operators e WHERE e.id = $2 AND o.id = $1`,
      [boss.id, own.id],
    );
    const visitor = desk.visitor();
    await visitor.ask('POST', '/api/session', { login: boss.login, password: PASSWORD });
    for (const code of [await own.nextCode(), own.recoveryCodes[0]!])
      assert.equal((await visitor.ask('POST', '/api/session/totp', { code })).status, 401);

    // The link of an invitation of one's own, put into the row of another one.
    const other = await someone('admin');
    const { id, token } = await desk.invite('invited', 'viewer');
    await attack(
      `WITH own AS (UPDATE operators SET enrolment = NULL WHERE id = $2 RETURNING 1)
       UPDATE operators o SET enrolment = e.enrolment, enrolment_ends = e.enrolment_ends
       FROM operators e WHERE e.id = $2 AND o.id = $1`,
      [other.id, id],
    );
    const link = newToken();
    const third = await someone('admin');
    await attack(
      "UPDATE operators SET enrolment = $2, enrolment_ends = now() + interval '1 hour', enrolled_at = NULL WHERE id = $1",
      [third.id, link.digest],
    );
    for (const text of [token, link.token]) {
      const { status } = await desk
        .visitor()
        .ask('POST', '/api/enrolment', { token: text, password: PASSWORD });
      assert.equal(status, 404);
    }
  });

  it('has only the recovery codes that it was given', async () => {
    const boss = await someone('admin');
    const [code] = newRecoveryCodes();
    await attack('UPDATE operators SET recovery_codes = recovery_codes || $2 WHERE id = $1', [
      boss.id,
      recoveryDigest(code!),
    ]);
    const visitor = desk.visitor();
    await visitor.ask('POST', '/api/session', { login: boss.login, password: PASSWORD });
    assert.equal((await visitor.ask('POST', '/api/session/totp', { code })).status, 401);
  });

  it('that somebody adds is none', async () => {
    await attack(
      "INSERT INTO operators (id, login, role, enrolled_at) VALUES (1000000, 'mallory', 'admin', now())",
    );
    const { cookie, key } = newSession();
    await attack(
      `INSERT INTO operator_sessions (id, secret, operator_id, is_whole)
       SELECT $1, $2, id, true FROM operators WHERE login = 'mallory'`,
      [key.id, key.secretDigest],
    );
    assert.equal(await statusOf(`ventanilla=${cookie}`, '/api/samples/viewer'), 401);
  });
});

describe('a row that no service would write', () => {
  it('stops nobody who reads all of them', async () => {
    const boss = await someone('admin');
    const { id } = await someone();
    for (const table of ['operators', 'operator_sessions', 'api_keys', 'operator_pending_sign_ins']) {
      const { rows } = await database.query(
        `SELECT attname AS name FROM pg_attribute
         WHERE attrelid = $1::regclass AND atttypid = 'timestamptz'::regtype AND NOT attisdropped`,
        [table],
      );
      assert.ok(rows.length > 0);
      const { rows: checks } = await database.query(
        "SELECT string_agg(pg_get_constraintdef(oid), ' ') AS text FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'c'",
        [table],
      );
      for (const { name } of rows)
        assert.match(checks[0].text, new RegExp(`\\b${name} <= '9999-12-31`), `${table}.${name}`);
    }
    await assert.rejects(attack("UPDATE operators SET disabled_at = 'infinity' WHERE id = $1", [id]), {
      code: '23514',
    });
    for (const authority of [
      'null',
      '[1]',
      '"x"',
      '{"COP":"x"}',
      '{"COP":null}',
      '{"COP":{}}',
      '{"COP":1e400}',
      '7',
    ])
      for (const mac of ['mac', "''"]) {
        await attack(`UPDATE operators SET authority = $2, mac = ${mac} WHERE id = $1`, [id, authority]);
        assert.ok((await json('operator', 'list')).length > 1, authority);
        await checked(OPERATORS_SERVICE);
        assert.equal((await (await boss.signIn()).ask('GET', '/api/session')).status, 200);
      }
    assert.equal((await json('operator', 'list')).find((one: { id: number }) => one.id === id).forged, true);
  });
});

describe('an API key', () => {
  const credentials = new Credentials(runtime, vault);
  const issued = async () => {
    const { id: partner } = await json('partner', 'add', '--name', `Partner ${++serial}`, '--country', 'CO');
    const { id, api_key: key } = await json(
      'key',
      'issue',
      '--partner',
      `${partner}`,
      '--environment',
      'DEV',
      '--daily-cap',
      '5',
    );
    return { id, partner, find: () => credentials.find(vault.apiKeyDigest(key)) };
  };
  for (const [what, change] of [
    ['partner', 'partner_id = $2'],
    ['environment', 'environment = NULL, partner_id = partner_id + 0 * $2'],
    ['cap', 'daily_cap = NULL, partner_id = partner_id + 0 * $2'],
    ['end', "expires_at = now() + interval '1 year', partner_id = partner_id + 0 * $2"],
  ] as const) {
    it(`whose ${what} somebody changes lets nobody in, and is told; revoking ends it`, async () => {
      const { id, find } = await issued();
      const { partner } = await issued();
      assert.equal((await find())?.isLive, true);
      await attack(`UPDATE api_keys SET ${change} WHERE id = $1`, [id, partner]);
      assert.equal(await find(), null);
      assert.equal((await json('key', 'list')).find((one: { id: number }) => one.id === id).status, 'forged');
      const { failed, lines } = await checked(PARTNERS_SERVICE);
      assert.equal(failed, true);
      assert.ok(lines.some((line) => (line as { names: string[] }).names.includes(String(id))));
      for (const args of [
        ['key', 'rotate', `${id}`],
        ['key', 'set', `${id}`, '--daily-cap', '9'],
      ])
        assert.notEqual((await run(...args)).code, 0);
      assert.equal((await json('key', 'revoke', `${id}`)).status, 'revoked');
      assert.equal((await checked(PARTNERS_SERVICE)).failed, false);
    });
  }

  it('that was revoked does not come back', async () => {
    const { id, find } = await issued();
    await json('key', 'revoke', `${id}`);
    await attack('UPDATE api_keys SET revoked_at = NULL WHERE id = $1', [id]);
    assert.equal(await find(), null);
    await json('key', 'revoke', `${id}`);
  });

  it('is not found by the digest of another key', async () => {
    const [one, other] = [await issued(), await issued()];
    await attack("UPDATE api_keys SET digest = sha256('moved') WHERE id = $1", [one.id]);
    await attack('UPDATE api_keys SET digest = $2 WHERE id = $1', [
      other.id,
      createHash('sha256').update('mine').digest(),
    ]);
    assert.equal(await credentials.find(createHash('sha256').update('mine').digest()), null);
    assert.equal(await one.find(), null);
  });
});

it('a MAC of one kind of row is none of another kind, and none under another key', () => {
  const macs = MACED_KINDS.map((kind: RowKind) => rowMac(vault, kind, [1, 'a']).toString('hex'));
  assert.equal(new Set(macs).size, MACED_KINDS.length);
});
