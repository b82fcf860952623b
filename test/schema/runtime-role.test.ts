/** What the runtime role may do: its statements, and no more. The owner of the tables is another role. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import {
  grantRuntime,
  grantRuntimeAgain,
  runtimeByGroups,
  runtimeGaps,
  runtimeMissing,
  sessionRole,
} from '../../src/ground/schema/runtime-role.ts';
import { emptyDatabaseUrl, openPool } from '../support/empty-database.ts';
import { makeRole } from '../support/runtime-role.ts';
import { runtimeStatements } from '../support/runtime-statements.ts';
import { allowSmallPartitions } from '../support/small-partitions.ts';

const DENIED = { code: '42501' };
const ownerUrl = await emptyDatabaseUrl();
const owner = openPool(ownerUrl);
const role = await makeRole(ownerUrl);
let runtime: Database;

before(async () => {
  await migrate(owner, machineClock);
  assert.equal(await grantRuntime(owner, role.name), true);
  runtime = openPool(role.url);
});

const superuser = async () => (await names('SELECT current_user::text AS name'))[0] as string;
const names = async (sql: string) => (await owner.query<{ name: string }>(sql)).rows.map(({ name }) => name);

describe('the runtime role', () => {
  it('has the privileges that its statements need, and no other one', async () => {
    const { rows } = await owner.query<{ name: string; rights: string[] }>(
      `SELECT c.relname AS name, array_agg(a.privilege_type::text ORDER BY a.privilege_type) AS rights
       FROM pg_class c, aclexplode(c.relacl) AS a
       WHERE a.grantee = $1::regrole AND c.relkind IN ('r', 'p') GROUP BY c.relname ORDER BY c.relname`,
      [role.name],
    );
    const held = Object.fromEntries(rows.map(({ name, rights }) => [name, rights]));
    assert.deepEqual(held, runtimeStatements());
    assert.deepEqual(held.operator_events, ['INSERT', 'SELECT'], 'the record of acts is append-only');
    assert.deepEqual(held.schema_migrations, ['SELECT']);
    const free = await names(`SELECT c.relname AS name FROM pg_class c
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relacl IS NULL`);
    assert.deepEqual(free, [], 'every table says what the role may do');
  });

  it('is neither an owner nor a superuser, and may make no table', async () => {
    const found = await sessionRole(runtime);
    assert.deepEqual(found, {
      ...{ name: role.name, isSuperuser: false, isOwner: false, mayCreate: false, excess: [] },
    });
    assert.deepEqual(await runtimeGaps(runtime), { missing: [], hasMore: false });
    await assert.rejects(runtime.query('CREATE TABLE mine ()'), DENIED);
    await assert.rejects(runtime.query('ALTER TABLE operator_events DISABLE TRIGGER ALL'), DENIED);
    await assert.rejects(runtime.query('ALTER SEQUENCE batch_numbers RESTART'), DENIED);
    await assert.rejects(runtime.query("SELECT setval('batch_numbers', 1)"), DENIED);
  });

  it('is a superuser where it may become one, or may use the files of the server', async () => {
    for (const strong of ['pg_read_server_files', 'pg_execute_server_program', await superuser()]) {
      const other = await makeRole(ownerUrl);
      await owner.query(`ALTER ROLE ${other.name} NOINHERIT; GRANT ${strong} TO ${other.name}`);
      const pool = openPool(other.url);
      assert.equal((await sessionRole(pool)).isSuperuser, true, strong);
    }
  });

  it('has more than it needs where it may make roles, write all tables or make schemas, itself or by another role', async () => {
    const { rows } = await owner.query('SELECT current_database() AS name');
    for (const [give, excess] of [
      ['ALTER ROLE % CREATEROLE', 'CREATEROLE'],
      ['GRANT pg_write_all_data TO %', 'pg_write_all_data'],
      [`GRANT CREATE ON DATABASE "${rows[0].name}" TO %`, 'CREATE ON DATABASE'],
    ] as const) {
      const [one, group, member] = [
        await makeRole(ownerUrl),
        await makeRole(ownerUrl),
        await makeRole(ownerUrl),
      ];
      await owner.query(give.replace('%', one.name));
      await owner.query(give.replace('%', group.name));
      await owner.query(`GRANT ${group.name} TO ${member.name}`);
      for (const { url } of [one, member])
        assert.deepEqual((await sessionRole(openPool(url))).excess, [excess], give);
      await owner.query(`REVOKE CREATE ON DATABASE "${rows[0].name}" FROM ${one.name}, ${group.name}`);
    }
  });

  it('adds acts of operators and can change none', async () => {
    await runtime.query(`INSERT INTO operator_events (id, at, actor, act, key_number, mac)
      VALUES (1, now(), 'ana', 'key revoke', 0, decode(repeat('00', 32), 'hex'))`);
    for (const sql of [
      "UPDATE operator_events SET actor = 'eva'",
      'DELETE FROM operator_events',
      'TRUNCATE operator_events',
      'DELETE FROM operator_events_head',
      'DROP TABLE operator_events',
      "INSERT INTO schema_migrations VALUES ('x', 'x', 1, true)",
      "INSERT INTO runtime_privileges VALUES ('operator_events', '{UPDATE}')",
    ]) {
      await assert.rejects(runtime.query(sql), DENIED, sql);
    }
    assert.deepEqual((await runtime.query('SELECT actor FROM operator_events')).rows, [{ actor: 'ana' }]);
  });

  it('makes, leaves and drops partitions by the functions for that', async () => {
    const partitions = () =>
      names(`SELECT relname AS name FROM pg_class WHERE relname ~ '^batches_to_\\d+$' ORDER BY 1`);
    assert.equal((await partitions()).length, 2);
    await runtime.query("SELECT nextval('batch_numbers')");
    await runtime.query("SELECT nextval('batch_numbers')");
    for (const least of ['0, 0', 'NULL, NULL', '-1, -1'])
      assert.deepEqual((await runtime.query(`SELECT leave_partition(${least}) AS yes`)).rows, [
        { yes: false },
      ]);
    await allowSmallPartitions(owner);
    assert.deepEqual((await runtime.query('SELECT leave_partition(0, 0) AS yes')).rows, [{ yes: true }]);
    await runtime.query('SELECT make_batch_partitions()');
    assert.equal((await partitions()).length, 3);
    await runtime.query('SELECT fill_look_up_buckets()');
    await runtime.query('SELECT * FROM forget_partition(1)');
    await assert.rejects(runtime.query('SELECT * FROM forget_partition(0)'), /p_days must be 1 or more/);
    await assert.rejects(runtime.query('SELECT * FROM forget_partition(NULL)'), /p_days must be 1 or more/);
  });

  it('makes and drops no other table by the functions within them', async () => {
    for (const sql of [
      "SELECT make_partition_tables('mine')",
      'SELECT attach_partition_tables(8388608)',
      "SELECT copy_open_applications(8388608, '{}', '{}')",
      "SELECT replace_partition(8388608, false, '1')",
      'SELECT put_partitions_end(1), runs_as_owner($$put_partitions_end(bigint)$$)',
      "SELECT fill_segment(0, 1, 'batches_to_8388608')",
    ]) {
      await assert.rejects(runtime.query(sql), DENIED, sql);
    }
  });
});

describe('a function that runs as the owner', () => {
  const OF_THE_OWNER = `FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef`;

  it('finds the tables of the store alone, and nobody but the runtime role may call it', async () => {
    const all = await names(`SELECT p.proname AS name ${OF_THE_OWNER} ORDER BY 1`);
    assert.deepEqual(all, [
      ...[
        'activate_policy',
        'add_policy',
        'delete_dropped_contract',
        'drop_contracts',
        'erase_begun_messages',
        'erase_reasons',
        'fill_look_up_buckets',
      ],
      ...['forget_contracts', 'forget_partition', 'keep_policy_backtest', 'keep_policy_constants'],
      ...['leave_partition', 'make_batch_partitions', 'withdraw_policy'],
    ]);
    const loose = await names(`SELECT p.proname AS name ${OF_THE_OWNER}
      AND NOT 'search_path=public, pg_temp' = ANY (p.proconfig)`);
    assert.deepEqual(loose, []);
    const open = await names(`SELECT p.proname AS name ${OF_THE_OWNER}
      AND EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
        WHERE a.grantee NOT IN (p.proowner, '${role.name}'::regrole::oid))`);
    assert.deepEqual(open, []);
  });

  it('does not take a temporary table of the caller for one of the store', async () => {
    const session = await runtime.connect();
    try {
      await session.query('CREATE TEMP TABLE elapsed AS SELECT 0::bigint AS partitions_end');
      await session.query('SELECT make_batch_partitions()');
      const { rows } = await session.query('SELECT partitions_end FROM pg_temp.elapsed');
      assert.deepEqual(rows, [{ partitions_end: '0' }]);
    } finally {
      session.release(true);
    }
  });
});

describe('the grants', () => {
  it('are made once, by several processes at once, and take back what is more', async () => {
    assert.equal(await grantRuntime(owner, role.name), false);
    await owner.query(`GRANT ALL ON operator_events, policies TO ${role.name};
      REVOKE INSERT ON outbox FROM ${role.name}`);
    assert.deepEqual(await runtimeGaps(runtime), {
      missing: [`GRANT INSERT ON TABLE outbox TO ${role.name}`],
      hasMore: true,
    });
    const done = await Promise.all([1, 2, 3].map(() => grantRuntime(owner, role.name)));
    assert.deepEqual(done.filter(Boolean), [true]);
    assert.deepEqual(await runtimeGaps(runtime), { missing: [], hasMore: false });
    await assert.rejects(runtime.query('TRUNCATE operator_events'), DENIED);
  });

  it('on single columns, and the right to grant, are taken back too', async () => {
    for (const grant of [
      'GRANT UPDATE (actor) ON operator_events TO %',
      'GRANT UPDATE (actor), SELECT (id) ON operator_events TO PUBLIC',
      'GRANT SELECT ON operator_events TO % WITH GRANT OPTION',
      'GRANT SELECT (actor) ON operator_events TO % WITH GRANT OPTION',
      'GRANT EXECUTE ON FUNCTION make_batch_partitions() TO % WITH GRANT OPTION',
    ]) {
      await owner.query(grant.replace('%', role.name));
      if (grant.includes('GRANT SELECT ON')) {
        // What the role has granted goes with its right.
        const other = await makeRole(ownerUrl);
        await runtime.query(`GRANT SELECT ON operator_events TO ${other.name}`);
      }
      assert.deepEqual(await runtimeGaps(runtime), { missing: [], hasMore: true }, grant);
      assert.equal(await grantRuntime(owner, role.name), true, grant);
      assert.deepEqual(await runtimeGaps(runtime), { missing: [], hasMore: false }, grant);
      await assert.rejects(runtime.query("UPDATE operator_events SET actor = 'eva'"), DENIED);
    }
  });

  it('by way of another role are named: the owner does not take them from that role', async () => {
    const [group, outer, readers] = [
      await makeRole(ownerUrl),
      await makeRole(ownerUrl),
      await makeRole(ownerUrl),
    ];
    await owner.query(
      `GRANT UPDATE ON operator_events TO ${group.name}; GRANT UPDATE (actor) ON operator_events TO ${group.name}`,
    );
    await owner.query(
      `GRANT SELECT ON operator_events TO ${readers.name}; GRANT ${readers.name} TO ${role.name}`,
    );
    assert.deepEqual(await runtimeByGroups(runtime), [], 'what the role has itself is not more');
    await owner.query(
      `GRANT ${group.name} TO ${outer.name}; GRANT ${outer.name} TO ${role.name}; ALTER ROLE ${role.name} NOINHERIT`,
    );
    assert.deepEqual(await runtimeByGroups(runtime), [`UPDATE on operator_events by way of ${group.name}`]);
    await owner.query(`REVOKE ${outer.name} FROM ${role.name}`);
    assert.deepEqual(await runtimeByGroups(runtime), []);
    await owner.query(`REVOKE ALL ON operator_events FROM ${group.name}, ${readers.name}`);
  });

  it('to everybody are taken back too', async () => {
    await owner.query('GRANT UPDATE, DELETE ON operator_events TO PUBLIC');
    await owner.query('GRANT EXECUTE ON FUNCTION make_batch_partitions() TO PUBLIC');
    assert.deepEqual(await runtimeGaps(runtime), { missing: [], hasMore: true });
    assert.equal(await grantRuntime(owner, role.name), true);
    assert.deepEqual(await runtimeGaps(runtime), { missing: [], hasMore: false });
    await assert.rejects(runtime.query('DELETE FROM operator_events'), DENIED);
  });

  it('leave tables and functions alone that are no part of the store, such as a lookup of a pooler', async () => {
    const other = await makeRole(ownerUrl);
    await owner.query(`
      CREATE FUNCTION user_lookup(name text) RETURNS text LANGUAGE sql SECURITY DEFINER RETURN name;
      REVOKE EXECUTE ON FUNCTION user_lookup(text) FROM PUBLIC;
      CREATE TABLE of_others ();
      GRANT SELECT ON of_others TO PUBLIC`);
    const grants = async () =>
      names("SELECT concat(p.proacl) AS name FROM pg_proc p WHERE p.proname = 'user_lookup'");
    const before = await grants();
    for (const maker of ['current_user', other.name]) {
      await owner.query(
        `ALTER FUNCTION user_lookup(text) OWNER TO ${maker}; ALTER TABLE of_others OWNER TO ${maker}`,
      );
      assert.deepEqual(await runtimeGaps(runtime), { missing: [], hasMore: false });
      assert.equal(await grantRuntime(owner, role.name), false);
    }
    await owner.query('ALTER FUNCTION user_lookup(text) OWNER TO current_user');
    assert.deepEqual(await grants(), before);
    await owner.query('DROP FUNCTION user_lookup(text); DROP TABLE of_others');
  });

  it('are given once more where a machine may not know them', async () => {
    await grantRuntimeAgain(owner, role.name);
    assert.deepEqual(await runtimeGaps(runtime), { missing: [], hasMore: false });
    await owner.query(`REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${role.name}`);
    await grantRuntimeAgain(owner, role.name);
    assert.deepEqual(await runtimeGaps(runtime), { missing: [], hasMore: false });
    assert.deepEqual(await runtimeMissing(runtime), []);
  });

  it('of a role that has none are told to be short', async () => {
    const other = await makeRole(ownerUrl);
    assert.deepEqual(await runtimeGaps(openPool(other.url)), { missing: null, hasMore: false });
  });
});
