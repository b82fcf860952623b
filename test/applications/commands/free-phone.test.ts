/** Two phones with one blind index: how an operator lifts the false duplicate (docs/decisions/0006). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toPhone } from '../../../src/domain/phone/phone.ts';
import { Vault } from '../../../src/seal/vault.ts';
import { ACTOR, commandLine, REVEAL } from '../../cli/harness.ts';
import { applicant } from '../../support/applicant.ts';
import { TEST_SECRETS, testDatabase } from '../../support/database.ts';
import { registrarOf } from '../../support/intake.ts';

const [BLOCKING, BLOCKED] = ['+573001110001', '+573001110002'] as const;

/** Gives these two phones one index, which no search can find in a test. */
class CollidingVault extends Vault {
  override blindIndex(kind: Parameters<Vault['blindIndex']>[0], value: string): string {
    return super.blindIndex(kind, kind === 'phone' && value === BLOCKED ? BLOCKING : value);
  }
}

const { database, ...rest } = await testDatabase();
const store = { ...rest, database, vault: new CollidingVault(TEST_SECRETS) };
const { run, json } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const registered = async (phone: string) => (await register(key, [applicant({ phone: toPhone(phone) })]))[0];

test('a phone that another phone blocks is found, freed and registered; the history tells who and why', async () => {
  const first = `${await registered(BLOCKING)}`;
  assert.equal(await registered(BLOCKED), 0);
  const [found] = await json('application', 'list', '--phone', BLOCKED, ...REVEAL);
  assert.deepEqual([`${found.id}`, found.phone], [first, BLOCKING]);
  const free = (id: string, phone: string, reason = 'checked by a call') =>
    run('application', 'free-phone', id, '--phone', phone, '--reason', reason);
  const refusals: [id: string, phone: string, reason: string, error: RegExp][] = [
    [first, BLOCKING, 'x', /has this phone: the new application is a duplicate/],
    [first, '0057 300 111-0001', 'x', /has this phone/],
    [first, '+573009999999', 'x', /does not hold this phone/],
    [first, '3001110002', 'x', /with \+ and country code/],
    [first, BLOCKED, ' ', /the reason must be one line/],
    ['999999', BLOCKED, 'x', /there is no application 999999/],
  ];
  for (const [id, phone, reason, error] of refusals) {
    const { code, err } = await free(id, phone, reason);
    assert.equal(code, 1);
    assert.match(err, error);
    assert.ok(!err.includes('30011'), 'no phone in an error');
  }
  assert.equal(await registered(BLOCKED), 0);
  assert.equal((await free(first, BLOCKED)).code, 0);
  const shown = await json('application', 'show', first);
  assert.equal(shown.status, 'pending_signature');
  const { actor, action, reason } = shown.history.at(-1);
  assert.deepEqual([actor, action, reason], [ACTOR, 'free_phone', 'checked by a call']);
  const second = `${await registered(BLOCKED)}`;
  assert.notEqual(second, '0');
  assert.match((await free(first, BLOCKED)).err, /any more/);
  // The end of the first application frees nothing of the second.
  await json('application', 'reject', first, '--reason', 'x');
  assert.equal(await registered(BLOCKED), 0);
  assert.match((await free(first, BLOCKED)).err, /is not open/);
});
