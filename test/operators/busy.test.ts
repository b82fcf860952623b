/** While a password is being checked, strangers are refused without being counted, and who is known waits (D48). */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { after, it } from 'node:test';

const { argon2 } = crypto;
let held: Promise<unknown> = Promise.resolve();
crypto.argon2 = ((...args: Parameters<typeof argon2>) => {
  void held.then(() => argon2(...args));
}) as typeof argon2;
syncBuiltinESMExports();
after(() => {
  crypto.argon2 = argon2;
  syncBuiltinESMExports();
});
const { hashPassword } = await import('../../src/subjects/operators/uses/password-hash.ts');
const { accountByLogin } = await import('../../src/subjects/operators/sql/factors.ts');
const { cookieWith } = await import('../../src/subjects/operators/uses/device-cookie.ts');
const { inTransaction } = await import('../../src/ground/postgres/database.ts');
const { testDatabase } = await import('../support/database.ts');
const { eventually } = await import('../support/eventually.ts');
const { PASSWORD, startTestConsole } = await import('../support/console.ts');
const { waitingSessions } = await import('../support/waiting-sessions.ts');

const store = await testDatabase();
const { database } = store;
const desk = await startTestConsole(store);
const ana = await desk.enrolled('ana', 'viewer');
const signedIn = await ana.signIn();
const knowing = desk.visitor();
knowing.device = `ventanilla-device=${cookieWith(store.vault, null, (await accountByLogin(database, store.vault, 'ana'))!)}`;
const { token } = await desk.invite('new', 'viewer');
const password = { login: 'ana', password: PASSWORD };

/** Asks while a hash is under way, which begins after the try was counted. `release` lets the hash end. */
const askBeside = async <T>(ask: () => Promise<T>) => {
  await database.query('DELETE FROM operator_tries');
  const release = Promise.withResolvers<void>();
  const { answer, other } = await inTransaction(database, async (session) => {
    await session.query('LOCK TABLE operator_tries IN EXCLUSIVE MODE');
    const asked = ask();
    await eventually('a try that is to be counted', async () => (await waitingSessions(database)).length > 0);
    held = release.promise;
    return { answer: asked, other: hashPassword(PASSWORD) };
  });
  const end = async () => {
    release.resolve();
    await other;
  };
  return { answer, release: end };
};

it('a stranger is refused, and not counted', async () => {
  const { answer, release } = await askBeside(() => desk.visitor().ask('POST', '/api/session', password));
  assert.equal((await answer).status, 429);
  await release();
  const { rows } = await database.query('SELECT DISTINCT tries FROM operator_tries');
  assert.deepEqual(rows, [{ tries: 0 }]);
});

for (const [what, ask] of Object.entries({
  'a sign-in again': async () =>
    signedIn.ask('POST', '/api/session/again', { password: PASSWORD, code: await ana.nextCode() }),
  'a link': () => desk.visitor().ask('POST', '/api/enrolment', { token, password: PASSWORD }),
  'a sign-in in a known browser': () => knowing.ask('POST', '/api/session', password),
})) {
  it(`${what} waits for its turn`, async () => {
    const { answer, release } = await askBeside(ask);
    await release();
    assert.equal((await answer).status, 200);
  });
}

it('a sign-in in a known browser that comes while a hash is under way waits for its turn too', async () => {
  await database.query('DELETE FROM operator_tries');
  const release = Promise.withResolvers<void>();
  held = release.promise;
  const other = hashPassword(PASSWORD);
  const answer = knowing.ask('POST', '/api/session', password);
  const isCounted = async () =>
    (await database.query('SELECT FROM operator_tries WHERE tries = 1')).rows.length === 1;
  await Promise.race([answer, eventually('the try is counted', isCounted)]);
  release.resolve();
  await other;
  assert.equal((await answer).status, 200);
});
