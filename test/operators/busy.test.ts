/** A try that nobody looked at, because another password was being checked, does not count (D48). */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { it } from 'node:test';

const { argon2 } = crypto;
let held: Promise<unknown> = Promise.resolve();
crypto.argon2 = ((...args: Parameters<typeof argon2>) => {
  void held.then(() => argon2(...args));
}) as typeof argon2;
syncBuiltinESMExports();
const { hashPassword } = await import('../../src/operators/uses/password-hash.ts');
const { inTransaction } = await import('../../src/postgres/database.ts');
const { testDatabase } = await import('../support/database.ts');
const { eventually } = await import('../support/eventually.ts');
const { PASSWORD, startTestConsole } = await import('../support/console.ts');
const { waitingSessions } = await import('../support/waiting-sessions.ts');

const store = await testDatabase();
const { database } = store;
const desk = await startTestConsole(store);
const ana = await desk.enrolled('ana', 'viewer');
const signedIn = await ana.signIn();
const { token } = await desk.invite('new', 'viewer');

for (const [what, ask] of Object.entries({
  'a sign-in': () => desk.visitor().ask('POST', '/api/session', { login: 'ana', password: PASSWORD }),
  'a sign-in again': async () =>
    signedIn.ask('POST', '/api/session/again', { password: PASSWORD, code: await ana.nextCode() }),
  'a link': () => desk.visitor().ask('POST', '/api/enrolment', { token, password: PASSWORD }),
})) {
  it(`of ${what}`, async () => {
    await database.query('DELETE FROM operator_tries');
    const release = Promise.withResolvers<void>();
    const { answer, other } = await inTransaction(database, async (session) => {
      await session.query('LOCK TABLE operator_tries IN EXCLUSIVE MODE');
      const asked = ask();
      await eventually(
        'a try that is to be counted',
        async () => (await waitingSessions(database)).length > 0,
      );
      held = release.promise;
      return { answer: asked, other: hashPassword(PASSWORD) };
    });
    assert.equal((await answer).status, 429);
    release.resolve();
    await other;
    const { rows } = await database.query('SELECT DISTINCT tries FROM operator_tries');
    assert.deepEqual(rows, [{ tries: 0 }]);
  });
}
