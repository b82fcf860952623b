/** What a refused sign-in costs tells nothing of the login (D48). */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { after, it } from 'node:test';
import { remac } from '../support/remac.ts';

let hashes = 0;
const { argon2 } = crypto;
crypto.argon2 = ((...args: Parameters<typeof argon2>) => {
  // Those of a start, and of the operators of tests, are small.
  if (args[1].memory > 8) hashes += 1;
  return argon2(...args);
}) as typeof argon2;
syncBuiltinESMExports();
after(() => {
  crypto.argon2 = argon2;
  syncBuiltinESMExports();
});
const { testDatabase } = await import('../support/database.ts');
const { TestClock } = await import('../support/test-clock.ts');
const { PASSWORD, startTestConsole } = await import('../support/console.ts');
const { hashPassword } = await import('../../src/subjects/operators/uses/password-hash.ts');

const store = await testDatabase();
const clock = new TestClock();
const desk = await startTestConsole({ ...store, clock });
/** How long a refusal takes at least. */
const LEAST_MS = 500;

it('is one hash and half a second: a wrong password, no such login, and every account without a password', async () => {
  const known = await desk.enrolled('known', 'viewer');
  await store.database.query('UPDATE operators SET password = $2 WHERE id = $1', [
    known.id,
    await hashPassword(PASSWORD),
  ]);
  await remac(store);
  const disabled = await desk.enrolled('disabled', 'viewer');
  await store.database.query('UPDATE operators SET disabled_at = now() WHERE id = $1', [disabled.id]);
  await remac(store);
  const atProvider = await desk.enrolled('at.provider', 'viewer');
  await store.database.query('UPDATE operators SET password = NULL WHERE id = $1', [atProvider.id]);
  await remac(store);
  await desk.invite('invited', 'viewer');
  for (const [login, password] of [
    [known.login, 'another password'],
    ['nobody', PASSWORD],
    ['no login\u0000', PASSWORD],
    [disabled.login, PASSWORD],
    [atProvider.login, PASSWORD],
    ['invited', PASSWORD],
  ]) {
    const before = hashes;
    let isRefused = false;
    const asked = desk.visitor().ask('POST', '/api/session', { login, password });
    void asked.then(() => {
      isRefused = true;
    });
    await clock.untilTimer(LEAST_MS);
    await clock.advance(LEAST_MS - 1);
    assert.equal(isRefused, false, login);
    await clock.advance(1);
    assert.deepEqual([(await asked).status, hashes - before], [401, 1], login);
  }
});
