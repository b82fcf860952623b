/** Attacks on the sign-in of operators (D48): planted cookies, guesses at once, changes beneath a session. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { beforeEach, describe, it } from 'node:test';
import { Type } from 'typebox';
import { inTransaction, type Session } from '../../src/ground/postgres/database.ts';
import { lockAccount } from '../../src/subjects/operators/sql/factors.ts';
import { startSession } from '../../src/subjects/operators/sql/sessions.ts';
import { resetOperator } from '../../src/subjects/operators/uses/manage.ts';
import { countPassword } from '../../src/subjects/operators/uses/throttle.ts';
import { newSession } from '../../src/subjects/operators/uses/tokens.ts';
import { route } from '../../src/wire/operator/route.ts';
import { PASSWORD, startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { eventually, PATIENCE_MS } from '../support/eventually.ts';
import { remac } from '../support/remac.ts';
import { REPOSITORY } from '../support/sources.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { database, vault } = store;
const FOR_ADMINS = route({
  ...{ method: 'GET', path: '/samples/admin', access: 'admin', summary: 'For admins.' },
  ...{ reply: Type.Object({}), run: async () => ({ body: {} }) },
});
const desk = await startTestConsole(store, [FOR_ADMINS]);
beforeEach(() => database.query('DELETE FROM operator_tries'));

let made = 0;
const login = () => {
  made += 1;
  return `eva${made}`;
};

describe('a planted cookie', () => {
  it('never becomes signed in: not the one of nobody, not one without its second factor, not one from before', async () => {
    const { login: name, nextCode } = await desk.enrolled(login(), 'viewer');
    const attacker = desk.visitor();
    await attacker.ask('POST', '/api/session', { login: name, password: PASSWORD });
    const planted = attacker.cookie;
    // The victim's browser brings the attacker's cookie, and signs in.
    const victim = desk.visitor();
    victim.cookie = planted;
    await victim.ask('POST', '/api/session', { login: name, password: PASSWORD });
    assert.notEqual(victim.cookie, planted);
    // The one that was planted is over, so the attacker cannot give the code in it.
    assert.equal((await attacker.ask('POST', '/api/session/totp', { code: await nextCode() })).status, 401);
    const half = victim.cookie;
    assert.equal((await victim.ask('POST', '/api/session/totp', { code: await nextCode() })).status, 200);
    for (const cookie of [planted, half]) {
      attacker.cookie = cookie;
      assert.equal((await attacker.ask('GET', '/api/session')).status, 401);
    }
    assert.equal((await victim.ask('GET', '/api/session')).status, 200);
  });

  it('beside the browser’s own opens nothing, because nobody can tell which one was planted', async () => {
    const { signIn } = await desk.enrolled(login(), 'viewer');
    const visitor = await signIn();
    const twice = { Cookie: `${visitor.cookie}; ventanilla=${'A'.repeat(22)}.${'A'.repeat(43)}` };
    visitor.cookie = null;
    assert.equal((await visitor.ask('GET', '/api/session', undefined, twice)).status, 401);
  });
});

describe('a stranger', () => {
  it('who makes up logins fills no table, and stops no operator from a new sign-in', async () => {
    const { id, signIn, nextCode } = await desk.enrolled(login(), 'viewer');
    const rows = async () => (await database.query('SELECT FROM operator_tries')).rowCount;
    const name = (n: number) => ({ login: `nobody${n}`, password: PASSWORD });
    await database.query(
      "INSERT INTO operator_tries (name, since, tries) SELECT decode(lpad(to_hex(n), 32, '0'), 'hex'), now(), 1 FROM generate_series(1, 5) AS n",
    );
    for (let n = 0; n < 3; n += 1) await desk.visitor().ask('POST', '/api/session', name(n));
    await database.query('UPDATE operator_tries SET tries = 60');
    const before = await rows();
    for (let n = 3; n < 6; n += 1)
      assert.equal((await desk.visitor().ask('POST', '/api/session', name(n))).status, 429);
    assert.equal(await rows(), before);
    const visitor = await signIn();
    const again = { password: PASSWORD, code: await nextCode() };
    assert.equal((await visitor.ask('POST', '/api/session/again', again)).status, 200, `operator ${id}`);
  });

  it('with a link chooses ten passwords within 15 minutes, and no more', async () => {
    const { token } = await desk.invite(login(), 'viewer');
    const choose = () => desk.visitor().ask('POST', '/api/enrolment', { token, password: PASSWORD });
    for (let n = 0; n < 10; n += 1) assert.equal((await choose()).status, 200);
    const { status, headers } = await choose();
    assert.equal(status, 429);
    assert.ok(Number(headers.get('retry-after')) > 0);
  });
});

describe('a session of an operator who changes', () => {
  it('does not outlive a reset of the factors, also where it begins at the same moment', async () => {
    const { id, login: name } = await desk.enrolled(login(), 'viewer');
    // As a sign-in leaves it that commits while the reset waits for the account.
    const { cookie, key } = newSession();
    const { reset } = await inTransaction(database, async (session) => {
      const account = (await lockAccount(session, vault, id))!;
      const reset = resetOperator(store, name);
      await eventually('a reset that waits', async () => (await waitingSessions(database)).length > 0);
      await startSession(session, vault, key, { account, isWhole: true });
      return { reset };
    });
    await reset;
    const { rows } = await database.query('SELECT FROM operator_sessions WHERE operator_id = $1', [id]);
    assert.deepEqual(rows, []);
    const visitor = desk.visitor();
    visitor.cookie = `ventanilla=${cookie}`;
    assert.equal((await visitor.ask('GET', '/api/session')).status, 401);
  });

  it('has the role of the account as it is now, at the next request', async () => {
    const { id, signIn } = await desk.enrolled(login(), 'viewer');
    const visitor = await signIn();
    const may = async () => (await visitor.ask('GET', '/api/samples/admin')).status;
    assert.equal(await may(), 403);
    await database.query("UPDATE operators SET role = 'admin' WHERE id = $1", [id]);
    await remac(store);
    assert.equal(await may(), 200);
    await database.query("UPDATE operators SET role = 'reviewer' WHERE id = $1", [id]);
    await remac(store);
    assert.equal(await may(), 403);
  });

  it('without its second factor gives no whole one where the operator is disabled or lost the factors', async () => {
    for (const change of ['disabled_at = now()', 'password = NULL, totp = NULL, enrolled_at = NULL']) {
      const { id, login: name, nextCode } = await desk.enrolled(login(), 'viewer');
      const visitor = desk.visitor();
      await visitor.ask('POST', '/api/session', { login: name, password: PASSWORD });
      await database.query(`UPDATE operators SET ${change} WHERE id = $1`, [id]);
      await remac(store);
      assert.equal((await visitor.ask('POST', '/api/session/totp', { code: await nextCode() })).status, 401);
    }
  });

  it('is not begun by a password that was taken away while it was checked', async () => {
    const { id, login: name } = await desk.enrolled(login(), 'viewer');
    const answer = await inTransaction(database, async (session) => {
      await session.query('UPDATE operators SET password = NULL WHERE id = $1', [id]);
      await remac({ database: session, vault });
      // The right password, by the row as it was: then the request waits for this transaction.
      const asked = desk.visitor().ask('POST', '/api/session', { login: name, password: PASSWORD });
      await eventually('a try that waits', async () => (await waitingSessions(database)).length > 0);
      return { asked };
    });
    assert.equal((await answer.asked).status, 401);
    const { rowCount } = await database.query('SELECT FROM operator_sessions WHERE operator_id = $1', [id]);
    assert.equal(rowCount, 0);
  });
});

describe('guesses at the same moment', () => {
  it('are counted together, also where one that began earlier waits for the first one', async () => {
    const name = Buffer.alloc(16, 7);
    const count = (session: Session) =>
      session.query("SELECT * FROM count_operator_tries($1, '15 minutes')", [[name]]);
    const { waits } = await inTransaction(database, async (session) => {
      await session.query('INSERT INTO operator_tries (name, since, tries) VALUES ($1, now(), 0)', [name]);
      const waits = count(store.runtime);
      await eventually('a try that waits', async () => (await waitingSessions(database)).length > 0);
      await session.query('UPDATE operator_tries SET since = $2, tries = 9 WHERE name = $1', [
        name,
        new Date(),
      ]);
      return { waits };
    });
    assert.equal((await waits).rows[0].tries, 10);
  });

  it('of a password are checked one by one and counted: no more than ten of a login from an address', async () => {
    const { id, login: name } = await desk.enrolled(login(), 'viewer');
    const statuses: number[] = [];
    for (let round = 0; round < 14; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 4 }, (_, i) =>
          desk.visitor().ask('POST', '/api/session', { login: name, password: `a guess ${round} ${i}` }),
        ),
      );
      statuses.push(...answers.map(({ status }) => status));
    }
    assert.deepEqual([...new Set(statuses)].toSorted(), [401, 429]);
    const { rowCount } = await database.query(
      "SELECT FROM operator_events WHERE actor = $1 AND reason LIKE 'wrong password, %'",
      [`operator ${id}`],
    );
    assert.equal(rowCount, statuses.filter((status) => status === 401).length);
    assert.ok(rowCount <= 10, `${rowCount} were checked`);
  });

  it('of a code, in many sessions, are counted: no more than ten of an operator', async () => {
    const { id, login: name } = await desk.enrolled(login(), 'viewer');
    const halves = [];
    for (let i = 0; i < 4; i += 1) {
      const visitor = desk.visitor();
      await visitor.ask('POST', '/api/session', { login: name, password: PASSWORD });
      halves.push(visitor);
    }
    const answers = await Promise.all(
      halves.flatMap((visitor) =>
        Array.from({ length: 4 }, (_, i) => {
          const one = desk.visitor();
          one.cookie = visitor.cookie;
          return one.ask('POST', '/api/session/totp', { code: `00000${i}` });
        }),
      ),
    );
    const checked = answers.filter(({ status }) => status === 401).length;
    assert.ok(checked <= 10, `${checked} were checked`);
    const { rowCount } = await database.query(
      "SELECT FROM operator_events WHERE actor = $1 AND reason LIKE 'wrong code, %'",
      [`operator ${id}`],
    );
    assert.ok(rowCount! <= 10);
  });

  it('from one address, however many, keep out nobody at another address', async () => {
    const { login: name } = await desk.enrolled(login(), 'viewer');
    const guess = (address: string) =>
      countPassword({ database, vault }, { login: name, address, isKnown: false });
    const waits = await Promise.all(Array.from({ length: 50 }, () => guess('192.0.2.1')));
    assert.equal(waits.filter(({ lockedOut }) => lockedOut === null).length, 10);
    assert.equal((await guess('192.0.2.2')).lockedOut, null);
  });

  it('from one address are counted over all logins', async () => {
    await desk.visitor().ask('POST', '/api/session', { login: 'nobody.one', password: 'a guess' });
    await database.query('UPDATE operator_tries SET tries = 50');
    const late = await desk
      .visitor()
      .ask('POST', '/api/session', { login: 'nobody.two', password: 'a guess' });
    assert.equal(late.status, 429);
  });

  it('that know the password alone end no whole session of the operator', async () => {
    const { login: name, signIn } = await desk.enrolled(login(), 'viewer');
    const visitor = await signIn();
    for (let i = 0; i < 11; i += 1) {
      await database.query('DELETE FROM operator_tries');
      const { status } = await desk
        .visitor()
        .ask('POST', '/api/session', { login: name, password: PASSWORD });
      assert.equal(status, 200);
    }
    assert.equal((await visitor.ask('GET', '/api/session')).status, 200);
  });
});

describe('a Node.js without argon2id', () => {
  it('is told of where the console starts, in words', () => {
    const script = `
      import crypto from 'node:crypto';
      import { syncBuiltinESMExports } from 'node:module';
      delete crypto.argon2;
      syncBuiltinESMExports();
      const { checkArgon2 } = await import('./src/subjects/operators/uses/password-hash.ts');
      await checkArgon2().catch(({ message }) => console.log(message));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      ...{ cwd: REPOSITORY, encoding: 'utf8', timeout: PATIENCE_MS },
    });
    assert.match(stdout, /needs argon2id, which this Node.js does not have/);
  });

  it('is not this one', async () => {
    const { checkArgon2 } = await import('../../src/subjects/operators/uses/password-hash.ts');
    await checkArgon2();
  });
});
