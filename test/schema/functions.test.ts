/** The source of functions: what is made again, what is dropped, and which version's functions stay. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { isNewer, version } from '../../src/ground/base/version.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { FUNCTIONS, knownFunctions, readFunctions } from '../../src/ground/schema/functions.ts';
import { isMigrated, migrate } from '../../src/ground/schema/migrations.ts';
import { emptyDatabase } from '../support/empty-database.ts';

async function migrated(): Promise<() => Database> {
  const open = await emptyDatabase();
  await migrate(open(), machineClock);
  return open;
}

/** Every function with the transaction that made it, its arguments and what may be done with it. */
async function functionsOf(database: Database) {
  const { rows } = await database.query<{ name: string; made: string; shape: string }>(
    `SELECT proname AS name, xmin::text AS made,
      concat(oid::regprocedure, prosecdef, proacl, pg_get_functiondef(oid)) AS shape
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY oid::regprocedure::text`,
  );
  return rows;
}

/** Lets the database have had another text of an object, or another head. */
async function hadOther(database: Database, name: string, object: { head?: string; checksum?: string }) {
  const { head, checksum } = (await knownFunctions()).objects.get(name) ?? { head: 'x', checksum: 'x' };
  await database.query(
    "UPDATE schema_functions SET checksum = 'x', objects = jsonb_set(objects, ARRAY[$1], $2)",
    [name, { head, checksum, ...object }],
  );
}

describe('the source', () => {
  it('is read object by object, whatever comments, strings and bodies hold', () => {
    const { objects } = readFunctions([
      [
        '-- One; with a semicolon, and a quote that does not end: doesn’t.',
        'CREATE OR REPLACE FUNCTION one(p integer) RETURNS text LANGUAGE plpgsql AS $$',
        "BEGIN RETURN ';'; -- Here too;",
        'END $$;',
        "SELECT runs_as_owner('one(integer)');",
        '',
        "CREATE OR REPLACE VIEW v AS SELECT ';' AS a;",
        "SELECT runtime_may('SELECT', 'v');",
        'CREATE OR REPLACE TRIGGER t AFTER INSERT ON some_table REFERENCING NEW TABLE AS came',
        '  FOR EACH STATEMENT EXECUTE FUNCTION one();',
      ].join('\n'),
    ]);
    assert.deepEqual(
      [...objects.keys()],
      ['FUNCTION one', 'VIEW v', 'PRIVILEGES v', 'TRIGGER t ON some_table'],
    );
    assert.match(objects.get('FUNCTION one')?.sql ?? '', /runs_as_owner\('one\(integer\)'\);\n+$/);
    assert.throws(() => readFunctions(['CREATE FUNCTION f() RETURNS void RETURN 1;']), /no object/);
    const cut =
      'CREATE OR REPLACE VIEW v AS SELECT 1 AS a;\n-- A word.\nCREATE OR REPLACE VIEW w AS SELECT 2 AS a';
    assert.throws(() => readFunctions([cut]), /no semicolon/);
    assert.equal(readFunctions(['CREATE OR REPLACE VIEW v AS SELECT 1 AS a;\n-- A word.\n']).objects.size, 1);
  });

  it('counts no comment, and tells what CREATE OR REPLACE cannot replace', () => {
    const read = (text: string) => readFunctions([text]).objects.get('FUNCTION f') ?? assert.fail();
    const before = read(
      'CREATE OR REPLACE FUNCTION f(p integer) RETURNS text LANGUAGE sql AS $$ SELECT 1 $$;',
    );
    const same = read(
      '-- A word.\nCREATE OR REPLACE FUNCTION f(p integer)\nRETURNS text LANGUAGE sql AS $$ SELECT 1 $$;\n',
    );
    assert.deepEqual([same.head, same.checksum], [before.head, before.checksum]);
    const body = read('CREATE OR REPLACE FUNCTION f(p integer) RETURNS text LANGUAGE sql AS $$ SELECT 2 $$;');
    assert.deepEqual([body.head === before.head, body.checksum === before.checksum], [true, false]);
    const result = read(
      'CREATE OR REPLACE FUNCTION f(p integer) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;',
    );
    const owner = read(
      "CREATE OR REPLACE FUNCTION f(p integer) RETURNS text LANGUAGE sql AS $$ SELECT 1 $$; SELECT runs_as_owner('f(integer)');",
    );
    assert.equal(new Set([before, result, owner].map(({ head }) => head)).size, 3);
  });

  it('lets a later text fill in what an earlier one leaves open', () => {
    const f = (body: string) => `CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS $$ ${body} $$;`;
    const { objects } = readFunctions([f('SELECT 1'), f('SELECT 2')]);
    assert.match(objects.get('FUNCTION f')?.sql ?? '', /SELECT 2/);
  });

  it('has bodies that are right when all of it is there', async () => {
    const database = (await migrated())();
    for (const [name, { sql }] of (await knownFunctions()).objects)
      await database.query(sql).catch((error) => assert.fail(`${name}: ${error.message}`));
  });
});

describe('a database', () => {
  it('gets again what has changed alone, with its rights', async () => {
    const database = (await migrated())();
    const before = await functionsOf(database);
    await database.query(
      `CREATE OR REPLACE FUNCTION make_batch_partitions() RETURNS integer LANGUAGE sql AS 'SELECT 0';
      GRANT EXECUTE ON FUNCTION make_batch_partitions() TO PUBLIC`,
    );
    await hadOther(database, 'FUNCTION make_batch_partitions', { checksum: 'x' });
    assert.deepEqual(await migrate(database, machineClock), [FUNCTIONS]);
    const after = await functionsOf(database);
    const shapes = (rows: typeof after) => rows.map(({ name, shape }) => [name, shape]);
    assert.deepEqual(shapes(after), shapes(before));
    const again = after.filter(({ made }, index) => made !== before[index]?.made).map(({ name }) => name);
    assert.deepEqual(again, ['make_batch_partitions']);
    assert.deepEqual(await migrate(database, machineClock), []);
  });

  it('loses what the source has no longer, and gets anew what cannot be replaced', async () => {
    const database = (await migrated())();
    const before = await functionsOf(database);
    await database.query(
      `CREATE FUNCTION gone() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      SELECT runs_as_owner('gone()');
      CREATE TRIGGER gone AFTER INSERT ON selections FOR EACH ROW EXECUTE FUNCTION gone();
      CREATE VIEW gone_view AS SELECT 1 AS a; SELECT runtime_may('SELECT', 'gone_view');
      DROP FUNCTION usage_at; CREATE FUNCTION usage_at(text) RETURNS text LANGUAGE sql AS 'SELECT $1'`,
    );
    for (const name of [
      'FUNCTION gone',
      'TRIGGER gone ON selections',
      'VIEW gone_view',
      'PRIVILEGES gone_view',
    ])
      await hadOther(database, name, {});
    await hadOther(database, 'FUNCTION usage_at', { head: 'x', checksum: 'x' });
    assert.deepEqual(await migrate(database, machineClock), [FUNCTIONS]);
    const shapes = (rows: typeof before) => rows.map(({ shape }) => shape);
    assert.deepEqual(shapes(await functionsOf(database)), shapes(before));
    const { rows } = await database.query(
      `SELECT to_regclass('gone_view') AS view,
        (SELECT count(*)::int FROM pg_trigger WHERE tgname = 'gone') AS triggers,
        (SELECT count(*)::int FROM runtime_privileges WHERE name LIKE 'gone%') AS privileges`,
    );
    assert.deepEqual(rows, [{ view: null, triggers: 0, privileges: 0 }]);
  });

  it('stays as it is where a step fails', async () => {
    const database = (await migrated())();
    await database.query('CREATE VIEW of_others AS SELECT usage_at(1, now()) AS a');
    await hadOther(database, 'FUNCTION usage_at', { head: 'x', checksum: 'x' });
    await hadOther(database, 'FUNCTION take_claim', { checksum: 'x' });
    const before = await functionsOf(database);
    await assert.rejects(migrate(database, machineClock), /usage_at/);
    assert.deepEqual(await functionsOf(database), before);
    await database.query('DROP VIEW of_others');
    assert.deepEqual(await migrate(database, machineClock), [FUNCTIONS]);
  });

  it('gets them once from several starts at once', async () => {
    const open = await migrated();
    await hadOther(open(), 'FUNCTION take_claim', { checksum: 'x' });
    const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(open(), machineClock)));
    assert.deepEqual(applied.flat(), [FUNCTIONS]);
  });

  it('keeps the functions of a newer version, beside which this one works', async () => {
    const database = (await migrated())();
    await hadOther(database, 'FUNCTION take_claim', { checksum: 'x' });
    await database.query("UPDATE schema_functions SET version = '99.0.0'");
    assert.deepEqual(await migrate(database, machineClock), []);
    assert.equal(await isMigrated(database), true);
  });

  it('of an older version is not ready for this one, and one of another build of the version is', async () => {
    const database = (await migrated())();
    await hadOther(database, 'FUNCTION take_claim', { checksum: 'x' });
    assert.equal(await isMigrated(database), true);
    await database.query("UPDATE schema_functions SET version = '0.0.1'");
    assert.equal(await isMigrated(database), false);
    await database.query('UPDATE schema_functions SET checksum = $1', [(await knownFunctions()).checksum]);
    assert.equal(await isMigrated(database), true, 'an older version applied the same text');
    await database.query("UPDATE schema_functions SET checksum = 'x'");
    assert.deepEqual(await migrate(database, machineClock), [FUNCTIONS]);
    assert.equal(await isMigrated(database), true);
    const { rows } = await database.query('SELECT version FROM schema_functions');
    assert.deepEqual(rows, [{ version: version() }]);
  });
});

it('versions have the order of Semantic Versioning', () => {
  const ordered = ['0.1.0', '0.9.10', '0.10.9', '1.0.0', '1.0.1', '1.2.0', '10.0.0'];
  for (const [index, one] of ordered.entries())
    for (const [place, other] of ordered.entries()) assert.equal(isNewer(one, other), index > place);
  assert.equal(isNewer('1.0.0-rc.1', '1.0.0'), false);
});
