/** What a session is set to, whatever URL, role, database and pooler say (D15, D16, D37). */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { type Database, inTransaction } from '../../src/ground/postgres/database.ts';
import { SetupError } from '../../src/ground/postgres/setup-error.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import { testDatabase } from '../support/database.ts';
import { withDefaults } from '../support/database-defaults.ts';
import { poolerUrl } from '../support/like-a-pooler.ts';
import { openWithLimits } from '../support/open-patiently.ts';

const store = await testDatabase();
const { url } = store;
const name = new URL(url).pathname.slice(1);

function pool(t: TestContext, connectionString: string): Database {
  const database = openWithLimits(connectionString, 6);
  t.after(() => database.end());
  return database;
}

/** Each setting as a database may have it, and as a session of the service has it. */
const SETTINGS: Readonly<Record<string, readonly [weak: string, right: string]>> = {
  default_transaction_isolation: ['repeatable read', 'read committed'],
  default_transaction_deferrable: ['on', 'off'],
  synchronous_commit: ['off', 'on'],
  client_min_messages: ['error', 'notice'],
  statement_timeout: ['0', '3s'],
  lock_timeout: ['1ms', '0'],
  transaction_timeout: ['20s', '0'],
  idle_in_transaction_session_timeout: ['0', '10s'],
  idle_session_timeout: ['20s', '0'],
  array_nulls: ['off', 'on'],
  standard_conforming_strings: ['off', 'on'],
  bytea_output: ['escape', 'hex'],
  DateStyle: ['SQL, DMY', 'ISO, MDY'],
  IntervalStyle: ['iso_8601', 'postgres'],
  TimeZone: ['America/Bogota', 'UTC'],
  extra_float_digits: ['0', '1'],
  jit: ['on', 'off'],
  plan_cache_mode: ['force_generic_plan', 'auto'],
  enable_partition_pruning: ['off', 'on'],
  max_parallel_workers_per_gather: ['2', '0'],
  random_page_cost: ['4', '1.1'],
};
/** PostgreSQL has transaction_timeout from 17 on. */
const { rows: known } = await store.database.query<{ name: string }>(
  'SELECT name FROM pg_settings WHERE name = ANY ($1)',
  [Object.keys(SETTINGS)],
);
const names = known.map(({ name }) => name);
const WEAK = Object.fromEntries(names.map((setting) => [setting, SETTINGS[setting]![0]]));
const RIGHT = Object.fromEntries(names.map((setting) => [setting, SETTINGS[setting]![1]]));
const SHOWN = `SELECT ${names.map((setting) => `current_setting('${setting}') AS "${setting}"`).join(', ')}`;

describe('D15, D16: neither defaults nor the URL decide the settings of a session', () => {
  it('D15: defaults of the database do not', async (t) => {
    await withDefaults(t, store, WEAK);
    const database = pool(t, url);
    assert.deepEqual((await database.query(SHOWN)).rows, [RIGHT]);
    assert.deepEqual(await inTransaction(database, async (session) => (await session.query(SHOWN)).rows), [
      RIGHT,
    ]);
  });

  it('D15: options in the URL do not', async (t) => {
    const address = new URL(url);
    const options = Object.entries(WEAK).map(
      ([setting, value]) => `-c ${setting}=${value.replaceAll(' ', '\\ ')}`,
    );
    address.searchParams.set('options', options.join(' '));
    address.searchParams.set('statement_timeout', '60000');
    assert.deepEqual((await pool(t, address.href).query(SHOWN)).rows, [RIGHT]);
  });

  it('D15: a standby may promise more than on', async (t) => {
    await withDefaults(t, store, { synchronous_commit: 'remote_apply' });
    assert.equal((await pool(t, url).query(SHOWN)).rows[0].synchronous_commit, 'remote_apply');
  });

  /** A schema that is not that of the tables, until the test is over. */
  async function withSchema(t: TestContext, tables = ''): Promise<void> {
    await store.database.query(`CREATE SCHEMA other ${tables}; GRANT USAGE ON SCHEMA other TO PUBLIC`);
    t.after(() => store.database.query('DROP SCHEMA other CASCADE'));
  }

  for (const path of ["''", 'nowhere', 'other', 'other, public', '"$user"']) {
    it(`D15: a search_path of the database does not: ${path}`, async (t) => {
      await withSchema(t);
      await store.database.query(`ALTER DATABASE ${name} SET search_path = ${path}`);
      t.after(() => store.database.query(`ALTER DATABASE ${name} RESET search_path`));
      for (const database of [pool(t, url), pool(t, store.ownerUrl)])
        assert.deepEqual((await database.query('SHOW search_path')).rows, [{ search_path: 'public' }]);
      assert.deepEqual(await migrate(pool(t, store.ownerUrl), machineClock), []);
      await assert.rejects(pool(t, await poolerUrl(t, url)).query('SELECT 1'), /search_path/);
    });
  }

  it('D15: a search_path that leads to the tables stays', async (t) => {
    await withSchema(t, 'CREATE TABLE schema_migrations ()');
    for (const path of ['public, other', 'other', 'other, public']) {
      await store.database.query(`ALTER DATABASE ${name} SET search_path = ${path}`);
      t.after(() => store.database.query(`ALTER DATABASE ${name} RESET search_path`));
      for (const at of [url, await poolerUrl(t, url)])
        assert.deepEqual((await pool(t, at).query('SHOW search_path')).rows, [{ search_path: path }]);
    }
  });

  it('D15: a database without any schema is refused, and not with a stack', async (t) => {
    await store.database.query('ALTER SCHEMA public RENAME TO away');
    t.after(() => store.database.query('ALTER SCHEMA away RENAME TO public'));
    await assert.rejects(pool(t, url).query('SELECT 1'), (error) => {
      return error instanceof SetupError && /CREATE SCHEMA public/.test(error.message);
    });
  });
});

describe('D15, D16: through a pooler', () => {
  it('D15: the service sets nothing in a session that another client gets next', async (t) => {
    await withDefaults(t, store, { statement_timeout: '77s', jit: 'on' });
    const { rows } = await pool(t, await poolerUrl(t, url)).query(SHOWN);
    assert.deepEqual([rows[0].statement_timeout, rows[0].jit], ['77s', 'on']);
  });

  for (const [setting, value] of [
    ['default_transaction_isolation', 'repeatable read'],
    ['synchronous_commit', 'off'],
    ['synchronous_commit', 'local'],
    ['client_min_messages', 'error'],
    ['array_nulls', 'off'],
    ['standard_conforming_strings', 'off'],
    ['bytea_output', 'escape'],
    ['DateStyle', 'SQL, DMY'],
    ['IntervalStyle', 'iso_8601'],
    ['extra_float_digits', '0'],
  ] as const) {
    it(`D15, D16: ${setting} = ${value} by default is refused by name`, async (t) => {
      await withDefaults(t, store, { [setting]: value });
      const database = pool(t, await poolerUrl(t, url));
      await assert.rejects(database.query('SELECT 1'), (error) => {
        return error instanceof SetupError && error.message.includes(`${setting} = ${value}`);
      });
    });
  }
});
