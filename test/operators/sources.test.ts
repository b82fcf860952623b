/** Tries to sign in: they are counted, and the record has where the refused ones came from. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { PASSWORD, startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { HurriedClock } from '../support/test-clock.ts';

const store = await testDatabase();
const { database } = store;
const clock = new HurriedClock(new Date().toISOString());
const desk = await startTestConsole({ ...store, clock });
const PROXIES = ['127.0.0.1', '10.0.0.0/8'];
const behind = await startTestConsole({ ...store, clock }, [], undefined, null, null, PROXIES);
beforeEach(() => database.query('DELETE FROM operator_tries'));

const reasonsOf = async (id: number): Promise<string[]> =>
  (
    await database.query('SELECT reason FROM operator_events WHERE actor = $1 ORDER BY id', [
      `operator ${id}`,
    ])
  ).rows.map(({ reason }) => reason);
/** A wrong password of the login, with the header of a proxy. Returns the status. */
async function guess(url: string, login: string, forwarded?: string): Promise<number> {
  const response = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(forwarded !== undefined && { 'X-Forwarded-For': forwarded }),
    },
    body: JSON.stringify({ login, password: 'a wrong password' }),
  });
  await response.body?.cancel();
  return response.status;
}

/** One that is counted as `count`: a hash for each of them would take long. */
async function guesses(url: string, login: string, count: number, forwarded?: string): Promise<number> {
  const first = await guess(url, login, forwarded);
  await database.query('UPDATE operator_tries SET tries = tries + $1', [count - 1]);
  return first;
}

describe('where a try comes from', () => {
  it('is the last address that no trusted proxy has; what stands before it may be made up', async () => {
    const { id, login } = await behind.enrolled('ana', 'viewer');
    for (const forwarded of [
      '203.0.113.9',
      '198.51.100.1, 203.0.113.9',
      '127.0.0.1, 203.0.113.9, 10.1.2.3',
      'nonsense, 203.0.113.9',
    ])
      await guess(behind.url(), login, forwarded);
    assert.deepEqual(await reasonsOf(id), Array(4).fill('wrong password, from 203.0.113.0/24'));
  });

  it('is the address of the connection where no proxy is trusted, whatever a header says', async () => {
    const { id, login } = await desk.enrolled('bea', 'viewer');
    for (const forwarded of ['203.0.113.9', undefined]) await guess(desk.url(), login, forwarded);
    assert.deepEqual(await reasonsOf(id), Array(2).fill('wrong password, from 127.0.0.0/24'));
  });

  it('counts: strangers at another address behind a trusted proxy lock out themselves alone', async () => {
    const { login } = await behind.enrolled('eva', 'viewer');
    const from = '203.0.113.9';
    const statuses = [await guesses(behind.url(), login, 9, from)];
    for (let n = 0; n < 2; n += 1) statuses.push(await guess(behind.url(), login, from));
    assert.deepEqual(statuses, [401, 401, 429]);
    assert.equal(await guess(behind.url(), login, '198.51.100.7'), 401);
  });
});

describe('a lockout', () => {
  it('of an operator is recorded once, as it begins, and one of nobody is not', async () => {
    const { id, login } = await desk.enrolled('iris', 'viewer');
    await guesses(desk.url(), login, 9);
    for (let n = 0; n < 4; n += 1) await guess(desk.url(), login);
    assert.deepEqual(await reasonsOf(id), [
      ...Array(2).fill('wrong password, from 127.0.0.0/24'),
      'locked out after too many tries, from 127.0.0.0/24',
    ]);
    const rows = async () => (await database.query('SELECT FROM operator_events')).rowCount;
    const before = await rows();
    await guesses(desk.url(), 'nobody.at.all', 10);
    for (let n = 0; n < 2; n += 1) await guess(desk.url(), 'nobody.at.all');
    assert.equal(await rows(), before);
  });

  it('begins as late for a login that nobody has as for one that is recorded', async () => {
    const { login } = await desk.enrolled('olga', 'viewer');
    for (const name of [login, 'nobody.either']) {
      await database.query('DELETE FROM operator_tries');
      await guesses(desk.url(), name, 10);
      const startedMs = clock.monotonicMs();
      assert.equal(await guess(desk.url(), name), 429);
      assert.equal(clock.monotonicMs() - startedMs, 500, name);
    }
  });
});

it('each try is told by its step and what became of it', async () => {
  const { login, nextCode } = await desk.enrolled('uma', 'viewer');
  const from = desk.tries.length;
  const visitor = desk.visitor();
  await visitor.ask('POST', '/api/session', { login, password: 'a wrong password' });
  await visitor.ask('POST', '/api/session', { login, password: PASSWORD });
  await visitor.ask('POST', '/api/session/totp', { code: '000000' });
  await visitor.ask('POST', '/api/session/totp', { code: await nextCode() });
  await visitor.ask('POST', '/api/session/again', { password: 'a wrong password', code: await nextCode() });
  await visitor.ask('POST', '/api/enrolment/look', { token: 'nobodys' });
  await guesses(desk.url(), 'nobody.more', 10);
  await guess(desk.url(), 'nobody.more');
  assert.deepEqual(desk.tries.slice(from), [
    ...['password refused', 'password done', 'code refused', 'code done', 'again refused', 'link refused'],
    ...['password refused', 'password locked_out'],
  ]);
});
