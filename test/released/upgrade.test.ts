/**
 * The store that 1.0 wrote, with rows in every table, under the program of today, and under a made-up next version:
 * both show what 1.0 showed, and change no row.
 */
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { FUNCTIONS } from '../../src/ground/schema/functions.ts';
import { isMigrated, migrate } from '../../src/ground/schema/migrations.ts';
import { grantRuntime } from '../../src/ground/schema/runtime-role.ts';
import { Vault } from '../../src/seal/vault.ts';
import { commandLine } from '../cli/harness.ts';
import { REPOSITORY } from '../process/support.ts';
import { nextVersion, versionsOn } from '../process/versions.ts';
import { TEST_SECRETS } from '../support/database.ts';
import { emptyDatabaseUrl, openPool } from '../support/empty-database.ts';
import { assertInvariants } from '../support/erased.ts';
import { as, RUNTIME_ROLE, runtimePassword } from '../support/runtime-role.ts';
import { releasedStore, restoreStore, rowsOf, type Shown, showStore, showsAll } from './store.ts';

/** What an upgrade writes. The command `migrate` is also an act that is recorded, and remembers its secrets. */
const OF_THE_UPGRADE = ['schema_migrations', 'schema_functions', 'runtime_privileges'];
const OF_THE_COMMAND = ['operator_events', 'operator_events_head', 'secret_checks'];

type Rows = Readonly<Record<string, string>>;

function assertShows(now: Shown, then: Shown): void {
  const commands = (shown: Shown) => shown.map(([args]) => args);
  assert.deepEqual(commands(now), commands(then));
  for (const [index, [args, answer]] of then.entries())
    if (!showsAll(now[index]?.[1], ofTheStore(answer))) assert.deepEqual(now[index]?.[1], answer, args);
}

/** Without what tells of the version's default texts, and not of the store (docs/conversation.md). */
function ofTheStore(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return answer;
  const { brand_changed: _, ...rest } = answer as Record<string, unknown>;
  return rest;
}

/** Every row that was there has what it had; a migration may have added columns. */
function assertRows(now: Rows, then: Rows, written: readonly string[] = OF_THE_UPGRADE): void {
  for (const [name, rows] of Object.entries(then)) {
    if (written.includes(name)) continue;
    assert.ok(showsAll(JSON.parse(now[name] ?? '[]'), JSON.parse(rows)), `the rows of ${name} have changed`);
  }
}

/** Functions by name, with arguments and result. */
async function signatures(database: Database): Promise<Map<string, string>> {
  const { rows } = await database.query<{ name: string; signature: string }>(
    `SELECT proname AS name, format('(%s) %s', pg_get_function_arguments(oid), pg_get_function_result(oid)) AS signature
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  );
  return new Map(rows.map(({ name, signature }) => [name, signature]));
}

const IS_RELEASED =
  'what a release has stays: migrations and functions are only added (CONTRIBUTING.md, "The release")';

/** Functions of the release that no version calls any more: they went one release after their last call. */
const RETIRED: readonly string[] = [];

describe('the store of 1.0', () => {
  it('has a row in every table', () => {
    const { version, rows } = releasedStore();
    assert.match(version, /^1\.0\./);
    assert.ok(Object.keys(rows).length > 75);
    assert.deepEqual(
      Object.keys(rows).filter((name) => rows[name] === '[]'),
      [],
    );
  });

  it('is upgraded, shows what it showed, and keeps each row', async () => {
    const database = openPool(await emptyDatabaseUrl());
    const { rows, shown } = await restoreStore(database);
    const before = await signatures(database);
    await migrate(database, machineClock).catch((error) => assert.fail(`${error.message}; ${IS_RELEASED}`));
    assert.equal(await isMigrated(database), true);
    assertRows(await rowsOf(database), rows);
    const store = { database, vault: new Vault(TEST_SECRETS), clock: machineClock };
    assertShows(await showStore(commandLine(store).run), shown);
    await assertInvariants({ database, isSpread: false });
    // Processes of 1.0 go on beside this version: what they call is there, with the arguments that they give.
    const after = await signatures(database);
    const lost = [...before].filter(
      ([name, signature]) =>
        !RETIRED.includes(name) && !after.get(name)?.startsWith(signature.split(')')[0] ?? ''),
    );
    assert.deepEqual(lost, [], IS_RELEASED);
  });

  it('is upgraded by a next version, beside which this one works', async () => {
    const ownerUrl = await emptyDatabaseUrl();
    const database = openPool(ownerUrl);
    const { rows } = await restoreStore(database);
    await migrate(database, machineClock);
    await grantRuntime(database, RUNTIME_ROLE);
    const next = nextVersion(['ALTER TABLE partners ADD COLUMN of_next text']);
    const file = join(next, 'sql/functions/shared/elapsed.sql');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('SELECT ms FROM elapsed', 'SELECT e.ms FROM elapsed e'));
    appendFileSync(file, '\nCREATE OR REPLACE FUNCTION of_next() RETURNS integer LANGUAGE sql RETURN 1;\n');
    const url = as(ownerUrl, RUNTIME_ROLE, runtimePassword(ownerUrl));
    const { command } = versionsOn({ url, ownerUrl }, { CHANNEL: 'log' });
    const applied = await command(next, ['migrate', '--json']).exit;
    assert.deepEqual(JSON.parse(applied.out).applied, ['9000_next.sql', FUNCTIONS], applied.err);
    const { rows: functions } = await database.query(
      'SELECT of_next() AS made, version FROM schema_functions',
    );
    assert.deepEqual(functions, [{ made: 1, version: '9.0.0' }]);
    assertRows(await rowsOf(database), rows, [...OF_THE_UPGRADE, ...OF_THE_COMMAND]);
    const list = ['application', 'list', '--json'];
    const [byNext, byThis] = [await command(next, list).exit, await command(REPOSITORY, list).exit];
    assert.deepEqual([byNext.code, byThis.out, byThis.err], [0, byNext.out, byNext.err]);
    assert.equal((await command(REPOSITORY, ['migrate']).exit).out, 'Nothing to do.\n');
    const { rows: left } = await database.query('SELECT version FROM schema_functions');
    assert.deepEqual(left, [{ version: '9.0.0' }], 'the older version leaves the functions of the newer one');
  });
});
