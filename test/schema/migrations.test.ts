/** The versions of the schema, and servers that are refused. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { errorCode } from '../../src/ground/base/describe-error.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { checkServer } from '../../src/ground/postgres/open-database.ts';
import { SetupError } from '../../src/ground/postgres/setup-error.ts';
import { knownMigrations, type Migration } from '../../src/ground/schema/migration-files.ts';
import { isMigrated, migrate } from '../../src/ground/schema/migrations.ts';
import { emptyDatabase, emptyDatabaseUrl, openPool } from '../support/empty-database.ts';
import { openWithLimits } from '../support/open-patiently.ts';
import { TestClock } from '../support/test-clock.ts';

const FILES = readdirSync(new URL('../../migrations/', import.meta.url))
  .filter((name) => name.endsWith('.sql'))
  .sort();
/** What a new database gets. */
const ALL = [...FILES, 'sql/functions'];

async function appliedIn(database: Database) {
  const { rows } = await database.query(
    'SELECT name, checksum, applied_at FROM schema_migrations ORDER BY name',
  );
  return rows as { name: string; checksum: string; applied_at: Date }[];
}

/** How long a file is tried again where another session is in its way, and the rest between two tries. */
const [GIVE_UP_MS, RETRY_MS] = [600_000, 1_500];
const LOCKED = '55P03';

const known = await knownMigrations();
/** The schema of the version after this one. */
const NEXT = (known.at(-1)?.schema ?? 0) + 1;

/** Lists a migration that this version does not know, as a newer version does. */
async function addApplied(database: Database, name: string, { schema, additive }: Partial<Migration>) {
  await database.query(
    "INSERT INTO schema_migrations (name, checksum, schema, additive) VALUES ($1, 'x', $2, $3)",
    [name, schema, additive],
  );
}

const setupError = (message: RegExp) => (error: unknown) =>
  error instanceof SetupError && message.test(error.message);

describe('migrate', () => {
  it('applies every file once, in order, and no file the second time', async () => {
    const database = (await emptyDatabase())();
    assert.deepEqual(await migrate(database, machineClock), ALL);
    const applied = await appliedIn(database);
    assert.deepEqual(
      applied.map(({ name }) => name),
      FILES,
    );
    assert.equal(await isMigrated(database), true);
    assert.deepEqual(await migrate(database, machineClock), []);
    assert.deepEqual(await appliedIn(database), applied);
    await database.query('SELECT usage_at(1, now())');
  });

  it('D15: a start with nothing to do does not wait for the lock', async () => {
    const open = await emptyDatabase();
    await migrate(open(), machineClock);
    const holder = await open().connect();
    await holder.query(
      'BEGIN; SELECT pg_advisory_xact_lock(8726, 1); LOCK TABLE schema_migrations IN EXCLUSIVE MODE',
    );
    assert.deepEqual(await migrate(open(), machineClock), []);
    holder.release(true);
  });

  /** Another session is in the way of the first file from the start; the returned function ends that. */
  async function inTheWay(database: Database): Promise<() => void> {
    await database.query(`CREATE TABLE schema_migrations (name text PRIMARY KEY, checksum text NOT NULL,
      schema integer NOT NULL, additive boolean NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
    const holder = await database.connect();
    await holder.query('BEGIN; LOCK TABLE schema_migrations IN EXCLUSIVE MODE');
    return () => holder.release(true);
  }

  it('a file whose lock is held is tried again for ten minutes', async () => {
    const database = (await emptyDatabase())();
    const leave = await inTheWay(database);
    const clock = new TestClock();
    const migrating = migrate(database, clock);
    await clock.untilTimer(RETRY_MS);
    await clock.advance(GIVE_UP_MS);
    await clock.untilTimer(RETRY_MS);
    leave();
    await clock.advance(RETRY_MS);
    assert.deepEqual(await migrating, ALL);
  });

  it('a file whose lock is held for longer is given up', async () => {
    const database = (await emptyDatabase())();
    const leave = await inTheWay(database);
    const clock = new TestClock();
    const stop = new AbortController();
    const migrating = migrate(database, clock, stop.signal).then(String, errorCode);
    await clock.untilTimer(RETRY_MS);
    await clock.advance(GIVE_UP_MS + 1);
    const end = await Promise.race([migrating, clock.untilTimer(RETRY_MS)]);
    leave();
    stop.abort();
    assert.equal(end, LOCKED);
  });

  it('several processes at once apply each file once', async () => {
    const open = await emptyDatabase();
    const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(open(), machineClock)));
    assert.deepEqual(applied.flat().toSorted(), ALL);
    assert.equal(await isMigrated(open()), true);
  });

  it('continues where an earlier version stopped', async () => {
    const database = (await emptyDatabase())();
    // This table makes one file fail.
    await database.query('CREATE TABLE paused_templates ()');
    await assert.rejects(migrate(database, machineClock), /paused_templates/);
    await database.query('DROP TABLE paused_templates');
    assert.equal(await isMigrated(database), false);
    assert.deepEqual(await migrate(database, machineClock), ALL.slice(ALL.indexOf('0004_messages.sql')));
    assert.equal(await isMigrated(database), true);
  });

  it('a file that fails leaves nothing behind, and the files before it stay applied', async () => {
    const database = (await emptyDatabase())();
    // This table makes the second half of a file fail.
    await database.query('CREATE TABLE usage_totals ()');
    await assert.rejects(migrate(database, machineClock), /usage_totals/);
    assert.deepEqual(
      (await appliedIn(database)).map(({ name }) => name),
      FILES.slice(0, 1),
    );
    const { rows } = await database.query("SELECT to_regclass('partners') AS found");
    assert.equal(rows[0].found, null);
    await database.query('DROP TABLE usage_totals');
    // The lock and the transaction of the failure are gone.
    assert.deepEqual(await migrate(database, machineClock), ALL.slice(1));
  });

  it('refuses a store of before 1.0 in one sentence', async () => {
    const database = (await emptyDatabase())();
    // The table of 0.1.0 has fewer columns.
    await database.query('CREATE TABLE schema_migrations (name text PRIMARY KEY, checksum text NOT NULL)');
    await database.query("INSERT INTO schema_migrations VALUES ('0001_shared.sql', 'x')");
    await assert.rejects(
      migrate(database, machineClock),
      setupError(
        /^a version before 1\.0 made the database, and no later version takes over its store: start /,
      ),
    );
    const { rows } = await database.query("SELECT to_regclass('schema_functions') AS found");
    assert.equal(rows[0].found, null);
  });

  it('refuses a file that has changed since it was applied, by name', async () => {
    const database = (await emptyDatabase())();
    await migrate(database, machineClock);
    await database.query("UPDATE schema_migrations SET checksum = 'another' WHERE name = $1", [FILES[1]]);
    const message = new RegExp(
      `^another version of Ventanilla made the database: its migration ${FILES[1]} is not the same here`,
    );
    await assert.rejects(migrate(database, machineClock), setupError(message));
    await assert.rejects(migrate(database, machineClock), setupError(message));
  });

  it('refuses a database that is ahead, by name', async () => {
    const database = (await emptyDatabase())();
    await migrate(database, machineClock);
    await addApplied(database, '9999_later.sql', { schema: NEXT, additive: false });
    await assert.rejects(migrate(database, machineClock), setupError(/9999_later\.sql.*update the service/));
    const faults: string[] = [];
    assert.equal(await isMigrated(database, (fault) => faults.push(fault)), false);
    assert.match(faults.join(), /^the database has migration 9999_later\.sql.*update the service$/);
  });

  it('works beside the next version, where all that it added is additive', async () => {
    const database = (await emptyDatabase())();
    await migrate(database, machineClock);
    await addApplied(database, '9998_later.sql', { schema: NEXT, additive: true });
    await addApplied(database, '9999_later.sql', { schema: NEXT, additive: true });
    assert.deepEqual(await migrate(database, machineClock), []);
    assert.equal(await isMigrated(database), true);
    await addApplied(database, '9999_much_later.sql', { schema: NEXT + 1, additive: true });
    await assert.rejects(
      migrate(database, machineClock),
      setupError(/9999_much_later\.sql of schema.*update the service/),
    );
    assert.equal(await isMigrated(database), false);
  });

  it('refuses a database with a migration in between that is not known here', async () => {
    const database = (await emptyDatabase())();
    await migrate(database, machineClock);
    await addApplied(database, '0001_q.sql', { schema: NEXT, additive: true });
    await assert.rejects(migrate(database, machineClock), setupError(/0001_q\.sql/));
    assert.equal(await isMigrated(database), false);
  });
});

describe('isMigrated', () => {
  it('throws if there is no schema at all', async () => {
    await assert.rejects(isMigrated((await emptyDatabase())()), { code: '42P01' });
  });
});

describe('checkServer', () => {
  const server = (row: object | undefined) =>
    ({ query: async () => ({ rows: row === undefined ? [] : [row] }) }) as unknown as Database;

  it('takes the server of the tests', async () => {
    const database = (await emptyDatabase())();
    const { rows } = await database.query("SELECT current_setting('fsync') AS fsync");
    assert.equal(rows[0].fsync, 'on');
    await checkServer(database);
  });

  it('D15: refuses a server with fsync off, which loses what it acknowledged', async () => {
    const off = server({ fsync: 'off', version: '180000' });
    await assert.rejects(checkServer(off), setupError(/fsync/));
    await assert.rejects(checkServer(server(undefined)), SetupError);
  });

  it('refuses a version before 15', async () => {
    await assert.rejects(checkServer(server({ fsync: 'on', version: '149999' })), setupError(/15 or newer/));
    await checkServer(server({ fsync: 'on', version: '150000' }));
  });

  it('tells of a version whose sessions crash, and of no other', async () => {
    const told = [];
    for (const version of ['150000', '170010', '180000', '180004', '180005', '190000']) {
      if ((await checkServer(server({ fsync: 'on', version }))) !== null) told.push(version);
    }
    assert.deepEqual(told, ['180000', '180004']);
  });

  it('D15: sessions commit to disk, are bounded in time and run in UTC, whatever the role says', async (t) => {
    const url = await emptyDatabaseUrl();
    const name = new URL(url).pathname.slice(1);
    const owner = openPool(url);
    await owner.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    await owner.query(`ALTER DATABASE ${name} SET timezone = 'America/Bogota'`);
    const database = openWithLimits(url, 1);
    t.after(() => database.end());
    const { rows } = await database.query(
      `SELECT current_setting('synchronous_commit') AS commit, current_setting('TimeZone') AS zone,
        current_setting('statement_timeout') AS statement,
        current_setting('idle_in_transaction_session_timeout') AS idle`,
    );
    assert.deepEqual(rows, [{ commit: 'on', zone: 'UTC', statement: '3s', idle: '10s' }]);
  });
});
