/** The cookie of a browser that knows an operator: strangers keep nobody out there (D48). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { accountByLogin } from '../../src/subjects/operators/sql/factors.ts';
import { cookieWith, knownAccounts } from '../../src/subjects/operators/uses/device-cookie.ts';
import { disableOperator, resetOperator } from '../../src/subjects/operators/uses/manage.ts';
import { countPassword } from '../../src/subjects/operators/uses/throttle.ts';
import { PASSWORD, startTestConsole, type Visitor } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { remac } from '../support/remac.ts';

const store = await testDatabase();
const { database } = store;
const desk = await startTestConsole(store);
beforeEach(() => database.query('DELETE FROM operator_tries'));

const DAY_MS = 86_400_000;
const give = async (visitor: Visitor, login: string, password = PASSWORD) =>
  (await visitor.ask('POST', '/api/session', { login, password })).status;
/** A browser in which the operator signed in with both factors, and out. */
const known = async (login: string) => {
  const operator = await desk.enrolled(login, 'reviewer');
  const visitor = desk.visitor();
  assert.equal(await give(visitor, login), 200);
  assert.equal(visitor.device, null, 'the password alone makes no browser known');
  const { status } = await visitor.ask('POST', '/api/session/totp', { code: await operator.nextCode() });
  assert.equal(status, 200);
  await visitor.ask('DELETE', '/api/session');
  return { ...operator, visitor };
};
/** As strangers leave it who tried as often as they may, from the address of everybody behind a proxy. */
const useUp = async (login: string) => {
  assert.equal(await give(desk.visitor(), login, 'a guess'), 401);
  await database.query('UPDATE operator_tries SET tries = 50');
  assert.equal(await give(desk.visitor(), login), 429);
};
const cookieOf = ({ device }: Visitor) => device!.split('=')[1]!;
const namesOf = async (cookie: string | null) =>
  (await knownAccounts(store, cookie)).map(({ login }) => login).toSorted();

describe('a browser that knows the operator', () => {
  it('signs in although strangers used up the tries of its address and of the login', async () => {
    const { visitor, nextCode } = await known('ana');
    await useUp('ana');
    assert.equal(await give(visitor, 'ana'), 200);
    assert.equal((await visitor.ask('POST', '/api/session/totp', { code: await nextCode() })).status, 200);
  });

  it('is not signed in by its cookie, and is a stranger to other operators', async () => {
    const { visitor } = await known('berta');
    await desk.enrolled('carla', 'reviewer');
    assert.equal((await visitor.ask('GET', '/api/session')).status, 401);
    await useUp('carla');
    assert.equal(await give(visitor, 'carla'), 429);
    assert.equal(await give(visitor, 'berta'), 200);
  });

  it('has ten wrong tries more in 15 minutes, together with all others that know the operator', async () => {
    const allowed = async (isKnown: boolean, addresses: number, login: string) => {
      let count = 0;
      for (let address = 0; address < addresses; address += 1) {
        for (let n = 0; n < 12; n += 1) {
          const tried = await countPassword(store, { login, address: `192.0.2.${address}`, isKnown });
          if (tried.lockedOut === null) count += 1;
        }
      }
      return count;
    };
    assert.equal(await allowed(false, 7, 'one'), 50);
    await database.query('DELETE FROM operator_tries');
    assert.equal(await allowed(true, 7, 'one'), 60);
    assert.equal(await allowed(true, 1, 'one'), 0);
    // Ten here, and then as a stranger.
    assert.equal(await allowed(true, 1, 'another'), 12);
  });

  it('has ten tries at a time that wait for their turns, also where passwords were right', async () => {
    const wait = async (count: number) => {
      const from = { login: 'queue', address: '192.0.2.1', isKnown: true };
      const tried = [];
      for (let n = 0; n < count; n += 1) tried.push(await countPassword(store, from));
      return tried.filter(({ takeBack }) => takeBack === null);
    };
    const waiting = await wait(10);
    assert.equal(waiting.length, 10);
    await waiting[0]!.clear();
    assert.equal((await wait(12)).length, 1);
  });

  it('waits for its turn where other passwords are being checked, and counts none that was right', async () => {
    const { visitor } = await known('dora');
    await database.query('DELETE FROM operator_tries');
    const statuses = await Promise.all([1, 2].map(() => give(visitor, 'dora')));
    assert.deepEqual(statuses, [200, 200]);
    const { rows } = await database.query('SELECT coalesce(max(tries), 0) AS most FROM operator_tries');
    assert.deepEqual(rows, [{ most: 0 }]);
  });

  it('knows it no more where the operator is disabled or got new factors, also after the next enrolment', async () => {
    const { visitor } = await known('elsa');
    assert.deepEqual(await namesOf(cookieOf(visitor)), ['elsa']);
    await resetOperator(store, 'elsa');
    assert.deepEqual(await namesOf(cookieOf(visitor)), []);
    await database.query("UPDATE operators SET enrolled_at = now() WHERE login = 'elsa'");
    await remac(store);
    assert.deepEqual(await namesOf(cookieOf(visitor)), []);
    const { visitor: other } = await known('fina');
    assert.deepEqual(await namesOf(cookieOf(other)), ['fina']);
    await disableOperator(store, 'fina');
    assert.deepEqual(await namesOf(cookieOf(other)), []);
    await useUp('fina');
    assert.equal(await give(other, 'fina'), 429);
  });

  it('knows it for 90 days by the clock of the database, and not where that clock was ahead (D39)', async () => {
    await desk.enrolled('gina', 'reviewer');
    const account = (await accountByLogin(database, store.vault, 'gina'))!;
    const made = (ms: number) => cookieWith(store.vault, null, { ...account, nowMs: account.nowMs + ms });
    assert.deepEqual(await namesOf(made(-89 * DAY_MS)), ['gina']);
    assert.deepEqual(await namesOf(made(-90 * DAY_MS)), []);
    assert.deepEqual(await namesOf(made(DAY_MS)), []);
  });

  it('takes no cookie that somebody made up or changed', async () => {
    const { id, visitor } = await known('hanna');
    const ida = await desk.enrolled('ida', 'reviewer');
    const [, madeAt, mac] = cookieOf(visitor).split('.');
    for (const cookie of [
      `${ida.id}.${madeAt}.${mac}`,
      `${id}.${Number(madeAt) + 1}.${mac}`,
      `${id}.${madeAt}.${'A'.repeat(22)}`,
      `${id}.${madeAt}.`,
      '~~~',
      `999999999.99999999999.${mac}`,
      'x'.repeat(5_000),
    ])
      assert.deepEqual(await namesOf(cookie), [], cookie);
  });

  it('knows the eight operators who signed in there last', async () => {
    let cookie: string | null = null;
    const logins = Array.from({ length: 9 }, (_, n) => `shift${n}`);
    for (const login of [...logins, 'shift8']) {
      if ((await accountByLogin(database, store.vault, login)) === null)
        await desk.enrolled(login, 'reviewer');
      cookie = cookieWith(store.vault, cookie, (await accountByLogin(database, store.vault, login))!);
    }
    assert.deepEqual(await namesOf(cookie), logins.slice(1));
  });
});
