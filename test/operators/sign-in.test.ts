/** Enrolment and sign-in at the operators' console (D48). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type TOTP, URI } from 'otpauth';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { OPERATOR_SESSIONS } from '../../src/subjects/operators/sql/tables.ts';
import { PASSWORD, startTestConsole, type Visitor } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { besideLock } from '../support/held-lock.ts';
import { remac } from '../support/remac.ts';
import { shifted } from '../support/shifted.ts';

const store = await testDatabase();
const { database } = store;
const desk = await startTestConsole(store);
beforeEach(() => database.query('DELETE FROM operator_tries'));

let made = 0;
const login = () => {
  made += 1;
  return `ana${made}`;
};

describe('an enrolment', () => {
  it('takes the password and a code, gives ten recovery codes, and then the operator signs in', async () => {
    const name = login();
    const { token } = await desk.invite(name, 'reviewer');
    const visitor = desk.visitor();
    const begun = await visitor.ask('POST', '/api/enrolment', { token, password: PASSWORD });
    const totp = URI.parse(begun.body.totp) as TOTP;
    const first = totp.generate();
    const ended = await visitor.ask('POST', '/api/enrolment/totp', { token, code: first });
    assert.equal(new Set(ended.body.recovery_codes).size, 10);
    await visitor.ask('POST', '/api/session', { login: name, password: PASSWORD });
    const next = totp.generate({ timestamp: Date.now() + 30_000 });
    await visitor.ask('POST', '/api/session/totp', { code: next });
    const me = await visitor.ask('GET', '/api/session');
    assert.deepEqual([me.status, me.body.login, me.body.role], [200, name, 'reviewer']);
  });

  it('takes a code with the space that apps show in it, and so does the sign-in', async () => {
    const name = login();
    const { token } = await desk.invite(name, 'viewer');
    const visitor = desk.visitor();
    const begun = await visitor.ask('POST', '/api/enrolment', { token, password: PASSWORD });
    const totp = URI.parse(begun.body.totp) as TOTP;
    const typed = (timestamp: number) => ` ${totp.generate({ timestamp }).replace(/^.../, '$& ')} `;
    const code = typed(Date.now());
    assert.equal((await visitor.ask('POST', '/api/enrolment/totp', { token, code })).status, 200);
    await visitor.ask('POST', '/api/session', { login: name, password: PASSWORD });
    const next = typed(Date.now() + 30_000);
    assert.equal((await visitor.ask('POST', '/api/session/totp', { code: next })).status, 200);
  });

  it('refuses a weak password with its rule, and the link still works', async () => {
    const { token } = await desk.invite('maria', 'viewer');
    const visitor = desk.visitor();
    for (const [password, rule] of [
      ['short', /12 characters or more/],
      ['x'.repeat(129), /128 characters or fewer/],
      ['aaaaaaaaaaaaaaa', /is a known one, or easy to guess/],
      ['password1234', /is a known one, or easy to guess/],
      ['my name is Maria', /must not contain your login, maria$/],
    ] as const) {
      const refused = await visitor.ask('POST', '/api/enrolment', { token, password });
      assert.equal(refused.status, 400);
      assert.match(refused.body.error, rule);
    }
    assert.equal((await visitor.ask('POST', '/api/enrolment', { token, password: PASSWORD })).status, 200);
  });

  it('works once, for 24 hours, and with its own token alone', async () => {
    const { token } = await desk.invite(login(), 'viewer');
    const other = await desk.invite(login(), 'viewer');
    const visitor = desk.visitor();
    const begin = (with_: string) =>
      visitor.ask('POST', '/api/enrolment', { token: with_, password: PASSWORD });
    assert.equal((await begin('nobodys')).status, 404);
    await database.query("UPDATE operators SET enrolment_ends = now() - interval '1 second' WHERE id = $1", [
      other.id,
    ]);
    await remac(store);
    assert.equal((await begin(other.token)).status, 404);
    // Written while the clock was a month ahead.
    await database.query("UPDATE operators SET enrolment_ends = now() + interval '30 days' WHERE id = $1", [
      other.id,
    ]);
    await remac(store);
    assert.equal((await begin(other.token)).status, 404);
    const { totp } = (await begin(token)).body;
    assert.match(totp, /^otpauth:\/\/totp\/Ventanilla:ana\d+\?.*secret=/);
    const wrong = await visitor.ask('POST', '/api/enrolment/totp', { token, code: '000000' });
    assert.match(wrong.body.error, /the code is wrong/);
  });

  it('is told as usable or not before anything is typed, and whose it is to who has it, and to nobody else (D48)', async () => {
    const whose = login();
    const { id, token } = await desk.invite(whose, 'viewer');
    const visitor = desk.visitor();
    const look = async (given: string) => {
      const { status, body } = await visitor.ask('POST', '/api/enrolment/look', { token: given });
      return [status, status === 200 ? body : Object.keys(body)];
    };
    for (let open = 0; open < 60; open += 1) assert.deepEqual(await look(token), [200, { login: whose }]);
    assert.deepEqual(await look('nobodys'), [404, ['error']]);
    await database.query("UPDATE operators SET enrolment_ends = now() - interval '1 second' WHERE id = $1", [
      id,
    ]);
    await remac(store);
    for (let tries = 0; tries < 49; tries += 1) assert.deepEqual(await look(token), [404, ['error']]);
    assert.deepEqual(await look(token), [429, ['error']]);
    assert.equal(
      (await database.query('SELECT FROM operator_sessions WHERE operator_id = $1', [id])).rowCount,
      0,
    );
  });

  it('cannot be used again once it has ended', async () => {
    const name = login();
    const { token } = await desk.invite(name, 'viewer');
    const { id } = (await database.query('SELECT id FROM operators WHERE login = $1', [name])).rows[0];
    await database.query('UPDATE operators SET enrolled_at = now(), enrolment = NULL WHERE id = $1', [id]);
    await remac(store);
    assert.equal(
      (await desk.visitor().ask('POST', '/api/enrolment', { token, password: PASSWORD })).status,
      404,
    );
  });
});

describe('a sign-in', () => {
  it('says the same for a wrong password, an unknown login, a disabled one and one without factors', async () => {
    const { login: known } = await desk.enrolled(login(), 'viewer');
    const disabled = await desk.enrolled(login(), 'viewer');
    await database.query('UPDATE operators SET disabled_at = now() WHERE id = $1', [disabled.id]);
    await remac(store);
    const invited = login();
    await desk.invite(invited, 'viewer');
    const answers = [];
    for (const [name, password] of [
      [known, 'another password'],
      ['nobody', PASSWORD],
      [disabled.login, PASSWORD],
      [invited, PASSWORD],
    ]) {
      const { status, body } = await desk.visitor().ask('POST', '/api/session', { login: name, password });
      answers.push({ status, body });
    }
    assert.deepEqual(
      answers,
      Array(4).fill({ status: 401, body: { error: 'login, password or code is wrong' } }),
    );
  });

  it('gives a session that may do nothing but give the code, and another one after it', async () => {
    const { login: name, nextCode } = await desk.enrolled(login(), 'admin');
    const visitor = desk.visitor();
    await visitor.ask('POST', '/api/session', { login: name, password: PASSWORD });
    const half = visitor.cookie;
    assert.equal((await visitor.ask('GET', '/api/session')).status, 401);
    assert.equal((await visitor.ask('POST', '/api/session/totp', { code: await nextCode() })).status, 200);
    assert.notEqual(visitor.cookie, half);
    assert.equal((await visitor.ask('GET', '/api/session')).status, 200);
    visitor.cookie = half;
    assert.equal((await visitor.ask('POST', '/api/session/totp', { code: await nextCode() })).status, 401);
  });

  it('takes each code and each recovery code once', async () => {
    const { login: name, nextCode, recoveryCodes } = await desk.enrolled(login(), 'viewer');
    const give = async (code: string) => {
      const visitor = desk.visitor();
      await visitor.ask('POST', '/api/session', { login: name, password: PASSWORD });
      return (await visitor.ask('POST', '/api/session/totp', { code })).status;
    };
    const code = await nextCode();
    assert.deepEqual([await give(code), await give(code)], [200, 401]);
    const [recovery = ''] = recoveryCodes;
    assert.deepEqual(
      [await give(recovery.toUpperCase().replaceAll('-', ' ')), await give(recovery)],
      [200, 401],
    );
  });

  it('gives one session where one code comes many times at the same moment', async () => {
    const { id, login: name, nextCode } = await desk.enrolled(login(), 'viewer');
    const visitors: Visitor[] = [];
    for (let i = 0; i < 4; i += 1) {
      const visitor = desk.visitor();
      await visitor.ask('POST', '/api/session', { login: name, password: PASSWORD });
      visitors.push(visitor);
    }
    const code = await nextCode();
    const all = () =>
      Promise.all(
        visitors.map(async (visitor) => (await visitor.ask('POST', '/api/session/totp', { code })).status),
      );
    const statuses = await besideLock(database, `SELECT FROM operators WHERE id = ${id} FOR UPDATE`, all, 4);
    assert.deepEqual(statuses.toSorted(), [200, 401, 401, 401]);
  });

  it('ends a session without its second factor after five wrong codes, and throttles the operator after ten', async () => {
    const { login: name, nextCode } = await desk.enrolled(login(), 'viewer');
    const statuses = [];
    for (let i = 0; i < 2; i += 1) {
      const visitor = desk.visitor();
      await visitor.ask('POST', '/api/session', { login: name, password: PASSWORD });
      for (let j = 0; j < 6; j += 1) {
        const code = j < 5 ? 'aaaa-aaaa-aaaa-aaaa' : await nextCode();
        statuses.push((await visitor.ask('POST', '/api/session/totp', { code })).status);
      }
    }
    assert.deepEqual(statuses, Array(12).fill(401));
    const visitor = desk.visitor();
    await visitor.ask('POST', '/api/session', { login: name, password: PASSWORD });
    const late = await visitor.ask('POST', '/api/session/totp', { code: await nextCode() });
    assert.equal(late.status, 429);
    assert.ok(Number(late.headers.get('Retry-After')) > 0);
  });

  it('throttles a login from an address after ten tries, also the right password', async () => {
    const { login: name } = await desk.enrolled(login(), 'viewer');
    const giveWrong = () =>
      desk.visitor().ask('POST', '/api/session', { login: name, password: 'a wrong password' });
    assert.equal((await giveWrong()).status, 401);
    await database.query('UPDATE operator_tries SET tries = 10 WHERE tries = 1');
    const late = await desk.visitor().ask('POST', '/api/session', { login: name, password: PASSWORD });
    assert.equal(late.status, 429);
    assert.ok(Number(late.headers.get('Retry-After')) > 0);
    await database.query(`UPDATE operator_tries SET since = ${shifted('since', "interval '-15 minutes'")}`);
    assert.equal((await giveWrong()).status, 401);
  });

  it('checks one password at a time, and refuses the others quickly', async () => {
    const { login: name } = await desk.enrolled(login(), 'viewer');
    await database.query('DELETE FROM operator_tries');
    const ask = async () =>
      (await desk.visitor().ask('POST', '/api/session', { login: name, password: PASSWORD })).status;
    // A busy machine may serve one after the other, so that none is refused.
    await eventually('a refusal beside a sign-in', async () => {
      const statuses = new Set(await Promise.all(Array.from({ length: 8 }, ask)));
      assert.ok(
        statuses.has(200) && [...statuses].every((one) => one === 200 || one === 429),
        `${[...statuses]}`,
      );
      return statuses.has(429);
    });
    const { rows } = await database.query('SELECT max(tries) AS most FROM operator_tries');
    assert.deepEqual(rows, [{ most: 0 }], 'neither a right password nor one that nobody looked at counts');
  });

  it('is recorded with the operator’s id, and without what was typed', async () => {
    const { id, login: name, nextCode } = await desk.enrolled(login(), 'viewer');
    const visitor = desk.visitor();
    await visitor.ask('POST', '/api/session', { login: name, password: 'a wrong password' });
    await visitor.ask('POST', '/api/session', { login: name, password: PASSWORD });
    await visitor.ask('POST', '/api/session/totp', { code: 'aaaa-aaaa-aaaa-aaaa' });
    await visitor.ask('POST', '/api/session/totp', { code: await nextCode() });
    const { rows } = await database.query(
      'SELECT act, reason FROM operator_events WHERE actor = $1 ORDER BY id',
      [`operator ${id}`],
    );
    assert.deepEqual(
      rows.map(({ act, reason }) => `${act}: ${reason}`),
      [
        'sign in refused: wrong password, from 127.0.0.0/24',
        'sign in refused: wrong code, from 127.0.0.0/24',
        'sign in: one-time code, from 127.0.0.0/24',
      ],
    );
  });
});

describe('a session', () => {
  const ENDS = {
    '31 minutes without a request': "seen_at = now() - interval '31 minutes'",
    '13 hours': "started_at = now() - interval '13 hours'",
    'a clock that was ahead': "started_at = now() + interval '1 hour', seen_at = now() + interval '1 hour'",
  };
  for (const [why, change] of Object.entries(ENDS)) {
    it(`ends after ${why}`, async () => {
      const { id, signIn } = await desk.enrolled(login(), 'viewer');
      const visitor = await signIn();
      await database.query(`UPDATE operator_sessions SET ${change} WHERE operator_id = $1`, [id]);
      await remac(store);
      assert.equal((await visitor.ask('GET', '/api/session')).status, 401);
    });
  }

  it('goes on with what somebody does, and not with what the page asks by itself', async () => {
    const { id, signIn } = await desk.enrolled(login(), 'viewer');
    const visitor = await signIn();
    const isKept = async (method: string, headers: Record<string, string>) => {
      await database.query(
        "UPDATE operator_sessions SET seen_at = now() - interval '20 minutes' WHERE operator_id = $1",
        [id],
      );
      await remac(store);
      // A request that the form refuses is one of somebody too.
      await visitor.ask(method, '/api/session', method === 'GET' ? undefined : {}, headers);
      const { rows } = await database.query(
        "SELECT seen_at > now() - interval '10 minutes' AS is_kept FROM operator_sessions WHERE operator_id = $1",
        [id],
      );
      return rows[0].is_kept;
    };
    assert.equal(await isKept('GET', {}), false);
    assert.equal(await isKept('GET', { 'Operator-Active': 'false' }), false);
    assert.equal(await isKept('GET', { 'Operator-Active': 'true' }), true);
    assert.equal(await isKept('POST', { 'Operator-Active': 'false' }), false);
    assert.equal(await isKept('POST', {}), true);
  });

  it('ends at once where the operator is disabled or signs out', async () => {
    const { id, signIn } = await desk.enrolled(login(), 'viewer');
    const [first, second] = [await signIn(), await signIn()];
    const { cookie } = first;
    await first.ask('DELETE', '/api/session');
    first.cookie = cookie;
    assert.equal((await first.ask('GET', '/api/session')).status, 401);
    assert.equal((await second.ask('GET', '/api/session')).status, 200);
    await database.query('UPDATE operators SET disabled_at = now() WHERE id = $1', [id]);
    await remac(store);
    assert.equal((await second.ask('GET', '/api/session')).status, 401);
  });

  it('ends in every browser where the operator signs out everywhere, and the record says so', async () => {
    const { id, signIn } = await desk.enrolled(login(), 'viewer');
    const other = await (await desk.enrolled(login(), 'viewer')).signIn();
    const browsers = [await signIn(), await signIn(), await signIn()];
    const { cookie } = browsers[0]!;
    assert.equal((await browsers[0]!.ask('POST', '/api/session/sign-out-everywhere', {})).status, 200);
    assert.equal(browsers[0]!.cookie, 'ventanilla=');
    browsers[0]!.cookie = cookie;
    for (const browser of browsers) assert.equal((await browser.ask('GET', '/api/session')).status, 401);
    assert.equal((await other.ask('GET', '/api/session')).status, 200);
    const { rows } = await database.query('SELECT act FROM operator_events WHERE actor = $1', [
      `operator ${id}`,
    ]);
    assert.deepEqual(rows, [{ act: 'sign out everywhere' }]);
  });

  it('does not open with another secret, and is not one that a browser brought along', async () => {
    const { login: name, signIn } = await desk.enrolled(login(), 'viewer');
    const visitor = await signIn();
    const [id] = visitor.cookie!.split('.');
    visitor.cookie = `${id}.${'A'.repeat(43)}`;
    assert.equal((await visitor.ask('GET', '/api/session')).status, 401);
    // Fixation: the cookie that a stranger planted is not the one of the sign-in.
    const planted = visitor.cookie;
    await visitor.ask('POST', '/api/session', { login: name, password: PASSWORD });
    assert.notEqual(visitor.cookie, planted);
  });

  it('is forgotten with its tries once it has ended', async () => {
    const { id, signIn } = await desk.enrolled(login(), 'viewer');
    await signIn();
    await database.query(
      "UPDATE operator_sessions SET seen_at = now() - interval '1 day' WHERE operator_id = $1",
      [id],
    );
    await remac(store);
    assert.ok((await forgetRows(store.runtime, OPERATOR_SESSIONS)) >= 1);
    assert.equal(
      (await database.query('SELECT FROM operator_sessions WHERE operator_id = $1', [id])).rowCount,
      0,
    );
  });

  it('keeps ten of an operator: a new one ends the oldest', async () => {
    const { id, signIn } = await desk.enrolled(login(), 'viewer');
    const first = await signIn();
    for (let i = 0; i < 10; i += 1) await signIn();
    assert.equal((await first.ask('GET', '/api/session')).status, 401);
    const { rowCount } = await database.query('SELECT FROM operator_sessions WHERE operator_id = $1', [id]);
    assert.ok(rowCount! <= 10);
  });
});
