/** The two roles of a database: the owner of the tables migrates, and the service connects as the runtime role. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { openStore } from '../../src/app/open-store.ts';
import { roleFault } from '../../src/app/prepare-tables.ts';
import { readiness } from '../../src/app/readiness.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { knownMigrations } from '../../src/ground/schema/migration-files.ts';
import { Vault } from '../../src/seal/vault.ts';
import { TEST_SECRETS, TEST_VARIABLES } from '../support/database.ts';
import { emptyDatabaseUrl, openPool } from '../support/empty-database.ts';
import { makeRole } from '../support/runtime-role.ts';
import { TestClock } from '../support/test-clock.ts';

const FILES = (await knownMigrations()).map(({ name }) => name);
const adminUrl = await emptyDatabaseUrl();
const admin = openPool(adminUrl);
/** An ordinary role, which owns the database. */
const owner = await makeRole(adminUrl);
const runtime = await makeRole(adminUrl);
const group = await makeRole(adminUrl);

async function open(variables: Readonly<Record<string, string>>, notice: (text: string) => void = () => {}) {
  const config = readConfig({ ...TEST_VARIABLES, CHANNEL: 'log', DATABASE_URL: runtime.url, ...variables });
  const { signal } = new AbortController();
  const store = await openStore(config, {
    clock: machineClock,
    kind: 'service',
    makes: 'store',
    signal,
    notice,
    lost() {},
    onError() {},
  });
  const { rows } = await store.database.query('SELECT current_user::text AS role');
  await store.close();
  return { applied: store.applied, granted: store.granted, role: rows[0].role };
}

const withOwner = { MIGRATE_DATABASE_URL: owner.url };

before(async () => {
  const name = new URL(adminUrl).pathname.slice(1);
  await admin.query(`ALTER DATABASE ${name} OWNER TO ${owner.name}`);
});

describe('a start with two roles', () => {
  it('without the owner says that MIGRATE_DATABASE_URL is missing, and makes nothing', async () => {
    await assert.rejects(open({}), {
      name: 'Error',
      message:
        `the tables are not there, or the role ${runtime.name} of DATABASE_URL may not use them: set MIGRATE_DATABASE_URL ` +
        'to the owner of the tables, or run `ventanilla migrate` with it (docs/roles.md)',
    });
    const { rows } = await admin.query("SELECT to_regclass('schema_migrations') AS list");
    assert.deepEqual(rows, [{ list: null }]);
  });

  it('refuses, before the first migration too, a role that may make tables beside those of the store', async () => {
    await admin.query('GRANT CREATE ON SCHEMA public TO PUBLIC');
    await assert.rejects(open(withOwner), /may make tables in the schema of the store: REVOKE CREATE/);
    await admin.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    const { rows } = await admin.query("SELECT to_regclass('schema_migrations') AS list");
    assert.deepEqual(rows, [{ list: null }]);
  });

  it('refuses an owner of another database, and one that cannot log in, without its password', async () => {
    const other = await emptyDatabaseUrl();
    await assert.rejects(open({ MIGRATE_DATABASE_URL: other }), /lead to different databases or schemas$/);
    const wrong = owner.url.replace(/:[^:@]*@/, ':not-the-password@');
    await assert.rejects(open({ MIGRATE_DATABASE_URL: wrong }), (error: Error) => {
      assert.match(
        error.message,
        /^MIGRATE_DATABASE_URL cannot be used: the server refuses the user or the password/,
      );
      assert.doesNotMatch(error.message, /not-the-password/);
      return true;
    });
  });

  it('migrates as the owner and grants, and then connects as the runtime role alone', async () => {
    assert.deepEqual(await open(withOwner), {
      applied: [...FILES, 'sql/functions'],
      granted: runtime.name,
      role: runtime.name,
    });
    assert.deepEqual(await open(withOwner), { applied: [], granted: null, role: runtime.name });
    const { rows } = await admin.query(
      "SELECT tableowner FROM pg_tables WHERE schemaname = 'public' GROUP BY tableowner",
    );
    assert.deepEqual(rows, [{ tableowner: owner.name }]);
  });

  it('with nothing to do needs no owner, and connects as none', async () => {
    assert.deepEqual(await open({}), { applied: [], granted: null, role: runtime.name });
    const wrong = { MIGRATE_DATABASE_URL: owner.url.replace(/:[^:@]*@/, ':not-the-password@') };
    assert.deepEqual(await open(wrong), { applied: [], granted: null, role: runtime.name });
  });

  it('without the owner says that migrations are pending', async () => {
    const last = FILES.at(-1);
    const { rows } = await admin.query('DELETE FROM schema_migrations WHERE name = $1 RETURNING *', [last]);
    await assert.rejects(
      open({}),
      /^Error: migrations are pending, and the role \w+ of DATABASE_URL may not apply them: set MIGRATE_DATABASE_URL /,
    );
    const { name, checksum, schema, additive } = rows[0];
    await admin.query('INSERT INTO schema_migrations VALUES ($1, $2, $3, $4)', [
      name,
      checksum,
      schema,
      additive,
    ]);
  });

  it('takes back what the role may do and does not need, where the owner is known', async () => {
    await admin.query(`GRANT UPDATE ON operator_events TO ${runtime.name}`);
    assert.equal((await open({})).granted, null);
    assert.equal((await open(withOwner)).granted, runtime.name);
    await assert.rejects(openPool(runtime.url).query('UPDATE operator_events SET id = 1'), { code: '42501' });
  });

  it('refuses a role that may make tables beside those of the store', async () => {
    await admin.query('GRANT CREATE ON SCHEMA public TO PUBLIC');
    await assert.rejects(open(withOwner), /may make tables in the schema of the store: REVOKE CREATE/);
    await admin.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  });

  it('refuses a role that may make roles, and one that has more by way of another role, with or without the owner', async () => {
    await admin.query(`ALTER ROLE ${runtime.name} CREATEROLE`);
    for (const variables of [{}, withOwner]) {
      await assert.rejects(
        open(variables),
        /^Error: the role \w+ of DATABASE_URL has CREATEROLE, which the service never needs: take it back/,
      );
    }
    await admin.query(`ALTER ROLE ${runtime.name} NOCREATEROLE; GRANT ${owner.name} TO ${group.name}`);
    await admin.query(`ALTER ROLE ${runtime.name} NOINHERIT; GRANT ${group.name} TO ${runtime.name}`);
    for (const variables of [{}, withOwner]) {
      await assert.rejects(
        open(variables),
        /^Error: the role \w+ of DATABASE_URL may do more than it needs \(.* by way of \w+, .* and others\): take it out of these roles/,
      );
    }
    await admin.query(`REVOKE ${group.name} FROM ${runtime.name}; ALTER ROLE ${runtime.name} INHERIT`);
    await open({});
  });

  it('refuses a superuser, whatever else is set', async () => {
    for (const variables of [{ DATABASE_URL: adminUrl }, { DATABASE_URL: adminUrl, ...withOwner }]) {
      await assert.rejects(
        open(variables),
        /^Error: DATABASE_URL connects as the superuser \w+, and the service never does: make a role .* set DATABASE_URL to that role and MIGRATE_DATABASE_URL to the owner/,
      );
    }
  });

  it('is not kept up by a function and a table of others in the schema', async () => {
    await admin.query(`
      CREATE FUNCTION user_lookup(name text) RETURNS text LANGUAGE sql SECURITY DEFINER RETURN name;
      REVOKE EXECUTE ON FUNCTION user_lookup(text) FROM PUBLIC;
      CREATE TABLE of_others (); GRANT SELECT ON of_others TO PUBLIC`);
    for (const variables of [{}, withOwner]) assert.equal((await open(variables)).granted, null);
    await admin.query('DROP FUNCTION user_lookup(text); DROP TABLE of_others');
  });

  it('without the owner names what the role lacks', async () => {
    await admin.query(`REVOKE INSERT ON outbox FROM ${runtime.name};
      REVOKE EXECUTE ON FUNCTION make_batch_partitions() FROM ${runtime.name}`);
    await assert.rejects(open({}), (error: Error) => {
      const statements = [
        `GRANT EXECUTE ON FUNCTION make_batch_partitions() TO ${runtime.name}`,
        `GRANT INSERT ON TABLE outbox TO ${runtime.name}`,
      ];
      const told = `the role ${runtime.name} of DATABASE_URL lacks what the service needs (${statements.join(', ')}): set`;
      return error.message.startsWith(told);
    });
    await assert.rejects(
      open({ MIGRATE_DATABASE_URL: (await makeRole(adminUrl)).url }),
      /^Error: the role \w+ of MIGRATE_DATABASE_URL does not own the tables: set it to their owner$/,
    );
    assert.equal((await open(withOwner)).granted, runtime.name);
  });

  it('lets the owner do both where no other role is given', async () => {
    const notices: string[] = [];
    const alone = await open({ DATABASE_URL: owner.url }, (text) => notices.push(text));
    assert.deepEqual(alone, { applied: [], granted: null, role: owner.name });
    assert.match(
      notices.join(),
      /^the service connects as \w+, who owns the tables and can change what is recorded/,
    );
  });
});

describe('a running process', () => {
  const clock = new TestClock();
  const log: string[] = [];
  const database = openPool(runtime.url);
  const vault = new Vault(TEST_SECRETS);
  const isReady = readiness({ database, vault, clock }, pino({}, { write: (line) => void log.push(line) }));
  /** The looks at the role while all is well are a minute apart. */
  const later = async () => {
    log.length = 0;
    await clock.advance(60_000);
    return isReady();
  };

  before(async () => {
    await open(withOwner);
  });

  it('is ready while its role is as a start wants it', async () => {
    assert.equal(await isReady(), true);
    assert.equal(await roleFault(database), null);
    assert.deepEqual(log, []);
  });

  it('is not ready without a privilege, names it, and is ready again with the next probe that finds it', async () => {
    await admin.query(`REVOKE SELECT ON applications FROM ${runtime.name}`);
    assert.equal(await isReady(), true, 'not at each probe');
    assert.equal(await later(), 'privileges_missing');
    assert.match(log.join(''), /not ready: the role \w+ .* lacks .*GRANT SELECT ON TABLE applications TO/);
    assert.match((await roleFault(database))?.text ?? '', /set MIGRATE_DATABASE_URL to the owner/);
    await admin.query(`GRANT SELECT ON applications TO ${runtime.name}`);
    assert.equal(await isReady(), true);
  });

  it('stays ready where only the next start would be refused, and the log says so', async () => {
    await admin.query(`ALTER ROLE ${runtime.name} CREATEROLE`);
    assert.equal(await later(), true);
    assert.match(log.join(''), /the next start is refused: the role \w+ of DATABASE_URL has CREATEROLE/);
    await admin.query(`ALTER ROLE ${runtime.name} NOCREATEROLE`);
    assert.equal(await later(), true);
    assert.deepEqual(log, []);
  });
});
