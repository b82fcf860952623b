/** What a restore of an older moment ends again (docs/backup.md): it takes away, and gives nothing back. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { endAgain, endedSince } from '../../src/app/backup/endings.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { lockAccount } from '../../src/subjects/operators/sql/factors.ts';
import { proofOf } from '../../src/subjects/operators/uses/second-factor.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const desk = await startTestConsole(store);
const TABLES = ['operators', 'operator_sessions', 'api_keys', 'suppressions', 'application_states'];

/** The store as it is now, by `back()`. The keys of partners come back by an update, because other tables name them. */
async function moment(): Promise<{ at: Date; back: () => Promise<void> }> {
  for (const table of TABLES) await database.query(`CREATE TABLE kept_${table} AS TABLE ${table}`);
  const { at } = (await database.query('SELECT clock_timestamp() AS at')).rows[0];
  const back = async () => {
    for (const table of TABLES) {
      await database.query(`DELETE FROM ${table}`);
      await database.query(`INSERT INTO ${table} TABLE kept_${table}`);
    }
  };
  return { at, back };
}

it('ends sign-ins, and again what was ended since, and records it; what was given since is not there', async () => {
  const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  const issue = async () => (await json('key', 'issue', '--partner', `${partner}`)).id as number;
  const [revoked, rotated, kept] = [await issue(), await issue(), await issue()];
  const [wrong] = await (await registrarOf(store))(kept, [applicant(IN_REVIEW)]);
  const [gone, lost, less, , used] = [
    await desk.enrolled('gone', 'admin'),
    await desk.enrolled('lost', 'reviewer'),
    await desk.enrolled('less', 'admin'),
    await desk.enrolled('more', 'viewer'),
    await desk.enrolled('used', 'admin'),
  ];
  await json('operator', 'role', 'less', '--authority', 'COP=500', '--authority', 'MXN=70');
  await desk.invite('invited', 'viewer');
  await json('suppression', 'add', '+573001112233');
  const visitors = await Promise.all([gone, lost, less].map(({ signIn }) => signIn()));
  const { at, back } = await moment();

  await json('operator', 'disable', 'gone');
  await json('operator', 'reset-factors', 'lost');
  await json(
    'operator',
    'role',
    'less',
    '--role',
    'reviewer',
    '--authority',
    'COP=20',
    '--authority',
    'EUR=9',
  );
  await json('operator', 'role', 'more', '--role', 'admin', '--authority', 'COP=9');
  const [code, other] = used.recoveryCodes;
  const proves = (text: string) =>
    inTransaction(database, async (session) =>
      proofOf(session, vault, (await lockAccount(session, vault, used.id))!, text),
    );
  assert.equal(await proves(code!), 'recovery code');
  await json('key', 'revoke', `${revoked}`);
  await json('key', 'rotate', `${rotated}`, '--overlap', '1h');
  await json('suppression', 'add', '+573009998877');
  await json('suppression', 'remove', '+573001112233');
  await database.query('SELECT note_wrong_person($1, true)', [[wrong]]);
  const later = await endedSince(database, vault, at);
  await back();

  const ended = await endAgain({ database, vault, actor: 'ana' }, [later]);
  assert.deepEqual(ended, {
    ...{ sessions: 3, links: 1, keys: [revoked, rotated], suppressions: 1 },
    losses: [
      { id: gone.id, what: 'account' },
      { id: lost.id, what: 'factors' },
      { id: less.id, what: 'role or authority' },
      { id: used.id, what: 'recovery codes' },
    ],
  });
  for (const visitor of visitors) assert.equal((await visitor.ask('GET', '/api/session')).status, 401);
  const operators = await json('operator', 'list');
  const of = (login: string) => operators.find((one: { login: string }) => one.login === login);
  assert.notEqual(of('gone').disabled_at, null);
  assert.equal(of('lost').enrolled_at, null);
  assert.deepEqual([of('less').role, of('less').authority], ['reviewer', { COP: '20' }]);
  assert.deepEqual([of('more').role, of('more').authority], ['viewer', {}]);
  assert.ok(operators.every(({ forged }: { forged: boolean }) => !forged));
  assert.deepEqual([await proves(code!), await proves(other!)], [null, 'recovery code']);
  const keys = await json('key', 'list');
  const key = (id: number) => keys.find((one: { id: number }) => one.id === id);
  assert.deepEqual([key(revoked).status, key(kept).status], ['revoked', 'live']);
  assert.notEqual(key(rotated).expires_at, null);
  assert.equal((await json('suppression', 'list')).length, 2, 'a lift is not done again');
  assert.equal((await json('application', 'show', `${wrong}`)).wrong_person, true);
  const targets = (await json('audit', 'list')).map(({ target }: { target: string | null }) => target);
  for (const target of [
    `key ${revoked}: ended again`,
    `operator ${lost.id}: lost again: factors`,
    'phones: 1 suppressed again',
  ])
    assert.ok(targets.includes(target), target);
  // A second time nothing is left to end.
  assert.deepEqual(await endAgain({ database, vault, actor: 'ana' }, [later]), {
    ...{ sessions: 0, links: 0, keys: [], suppressions: 0, losses: [] },
  });
});
