/** Proving both factors again within a session (D48). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Type } from 'typebox';
import { route } from '../../src/wire/operator/route.ts';
import { PASSWORD, startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { remac } from '../support/remac.ts';

const store = await testDatabase();
const { database } = store;
const ACT = route({
  ...{
    method: 'POST',
    path: '/samples/act',
    access: 'admin',
    summary: 'Needs a new sign-in.',
    needsFresh: true,
  },
  reply: Type.Object({}),
  run: async () => ({ body: {} }),
});
const desk = await startTestConsole(store, [ACT]);
beforeEach(() => database.query('DELETE FROM operator_tries'));

let made = 0;
/** An admin whose sign-in was six minutes ago. */
async function signedInBefore() {
  made += 1;
  const admin = await desk.enrolled(`eva${made}`, 'admin');
  const visitor = await admin.signIn();
  await database.query(
    "UPDATE operator_sessions SET proved_at = now() - interval '6 minutes' WHERE operator_id = $1",
    [admin.id],
  );
  await remac(store);
  return { ...admin, visitor };
}
/** Where a browser of the tests is, as the record says it. */
const FROM_HERE = ', from 127.0.0.0/24';
const recordOf = async (id: number) =>
  (
    await database.query('SELECT act, reason FROM operator_events WHERE actor = $1 ORDER BY id', [
      `operator ${id}`,
    ])
  ).rows.map(({ act, reason }) => `${act}: ${reason.replace(FROM_HERE, '')}`);

describe('a sign-in again', () => {
  it('is asked for in a field, makes the act possible, and gives another cookie: the one before is over', async () => {
    const { id, visitor, nextCode } = await signedInBefore();
    const refused = await visitor.ask('POST', '/api/samples/act');
    assert.deepEqual([refused.status, refused.body.needs], [403, 'sign-in']);
    assert.ok((await visitor.ask('GET', '/api/session')).body.proved_seconds_ago >= 360);
    const before = visitor.cookie;
    const proved = await visitor.ask('POST', '/api/session/again', {
      password: PASSWORD,
      code: await nextCode(),
    });
    assert.deepEqual([proved.status, proved.body], [200, {}]);
    assert.notEqual(visitor.cookie, before);
    assert.equal((await visitor.ask('POST', '/api/samples/act')).status, 200);
    assert.ok((await visitor.ask('GET', '/api/session')).body.proved_seconds_ago < 300);
    visitor.cookie = before;
    assert.equal((await visitor.ask('GET', '/api/session')).status, 401);
    assert.deepEqual(await recordOf(id), ['sign in again: one-time code']);
  });

  it('takes a recovery code too, once', async () => {
    const { visitor, recoveryCodes } = await signedInBefore();
    const prove = () =>
      visitor.ask('POST', '/api/session/again', { password: PASSWORD, code: recoveryCodes[0] });
    assert.equal((await prove()).status, 200);
    assert.equal((await prove()).status, 403);
  });

  it('with a wrong password or code proves nothing, keeps the session, and uses no code up', async () => {
    const { id, visitor, nextCode } = await signedInBefore();
    const { cookie } = visitor;
    const code = await nextCode();
    for (const body of [
      { password: 'another password', code },
      { password: PASSWORD, code: '000000' },
    ]) {
      const refused = await visitor.ask('POST', '/api/session/again', body);
      assert.deepEqual(
        [refused.status, refused.body],
        [403, { error: 'password or code is wrong', needs: 'sign-in' }],
      );
    }
    assert.equal(visitor.cookie, cookie);
    assert.equal((await visitor.ask('POST', '/api/samples/act')).status, 403);
    assert.deepEqual(await recordOf(id), [
      'sign in again refused: wrong password',
      'sign in again refused: wrong code',
    ]);
    assert.equal((await visitor.ask('POST', '/api/session/again', { password: PASSWORD, code })).status, 200);
  });

  it('ends the session after five wrong ones, and is throttled over all sessions of the operator', async () => {
    const { visitor, nextCode, signIn } = await signedInBefore();
    for (let i = 0; i < 5; i += 1) {
      const body = { password: PASSWORD, code: '000000' };
      assert.equal((await visitor.ask('POST', '/api/session/again', body)).status, 403);
    }
    assert.equal((await visitor.ask('GET', '/api/session')).status, 401);
    await database.query('UPDATE operator_tries SET tries = 10');
    const other = await signIn();
    const late = await other.ask('POST', '/api/session/again', {
      password: PASSWORD,
      code: await nextCode(),
    });
    assert.equal(late.status, 429);
    assert.ok(Number(late.headers.get('Retry-After')) > 0);
  });

  it('cannot be given by a session without its second factor, by nobody, or for an account that lost its factors', async () => {
    const { visitor, login, id, nextCode } = await signedInBefore();
    const body = { password: PASSWORD, code: await nextCode() };
    const half = desk.visitor();
    await half.ask('POST', '/api/session', { login, password: PASSWORD });
    const refused = await half.ask('POST', '/api/session/again', body);
    assert.deepEqual([refused.status, refused.body.needs], [401, 'code']);
    assert.equal((await desk.visitor().ask('POST', '/api/session/again', body)).status, 401);
    await database.query('UPDATE operators SET password = NULL, totp = NULL WHERE id = $1', [id]);
    await remac(store);
    assert.equal((await visitor.ask('POST', '/api/session/again', body)).status, 403);
  });

  it('counts from the first factor on: a code that came late makes nothing newer', async () => {
    const { id, login, nextCode } = await signedInBefore();
    const visitor = desk.visitor();
    await visitor.ask('POST', '/api/session', { login, password: PASSWORD });
    await database.query(
      "UPDATE operator_sessions SET proved_at = now() - interval '4 minutes' WHERE operator_id = $1",
      [id],
    );
    await remac(store);
    assert.equal((await visitor.ask('POST', '/api/session/totp', { code: await nextCode() })).status, 200);
    assert.ok((await visitor.ask('GET', '/api/session')).body.proved_seconds_ago >= 240);
  });

  it('gives one session where it comes many times at the same moment', async () => {
    const { visitor, nextCode, id } = await signedInBefore();
    const code = await nextCode();
    const { cookie } = visitor;
    const answers = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const one = desk.visitor();
        one.cookie = cookie;
        return (await one.ask('POST', '/api/session/again', { password: PASSWORD, code })).status;
      }),
    );
    assert.equal(answers.filter((status) => status === 200).length, 1);
    const { rowCount } = await database.query(
      "SELECT FROM operator_sessions WHERE operator_id = $1 AND proved_at > now() - interval '5 minutes'",
      [id],
    );
    assert.equal(rowCount, 1);
  });
});
