/** The files of the migrations: what their checksum counts, and what their first line says. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { knownFunctions, MAKE_FUNCTION_LIST } from '../../src/ground/schema/functions.ts';
import { knownMigrations, readMigration, withoutComments } from '../../src/ground/schema/migration-files.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import { emptyDatabase } from '../support/empty-database.ts';

const known = await knownMigrations();

/** The columns, and the functions without their comments. */
async function shapeOf(database: Database) {
  const { rows: columns } = await database.query(
    `SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name <> 'schema_migrations' ORDER BY 1, 2`,
  );
  const { rows: functions } = await database.query(
    `SELECT pg_get_functiondef(oid) AS text FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind <> 'a'
     ORDER BY proname, pg_get_function_identity_arguments(oid)`,
  );
  return { columns, functions: functions.map(({ text }) => withoutComments(text)) };
}

/** Statements whose rows break a rule that Citus needs (docs/scale.md), with the reason. */
const CITUS_RULES: readonly (readonly [rule: string, breaches: string])[] = [
  [
    'no parsed body of a function names a table or its columns: citus_add_node fails at it, or loses functions on rows',
    `SELECT DISTINCT d.objid::regprocedure::text AS name FROM pg_depend d JOIN pg_class c ON c.oid = d.refobjid
    WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'n'
      AND c.relnamespace = 'public'::regnamespace`,
  ],
  [
    'no partitioned table has an index of its own: Citus would lock those of all partitions when it makes one',
    `SELECT c.oid::regclass::text AS name FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'I'`,
  ],
];

/** The indexes of each partition, without their names. */
const INDEXES = `
  SELECT r.table, r.partition, array_agg(r.index ORDER BY r.index) AS indexes FROM (
    SELECT i.inhparent::regclass::text AS table, i.inhrelid::regclass::text AS partition, concat(
      CASE WHEN x.indisprimary THEN 'primary key ' END,
      regexp_replace(pg_get_indexdef(x.indexrelid), '^.* USING ', '')) AS index
    FROM pg_inherits i JOIN pg_index x ON x.indrelid = i.inhrelid) AS r
  GROUP BY r.table, r.partition ORDER BY r.table, r.partition`;

describe('the schema', () => {
  for (const [rule, breaches] of CITUS_RULES) {
    it(rule, async () => {
      const database = (await emptyDatabase())();
      await migrate(database, machineClock);
      assert.deepEqual((await database.query(breaches)).rows, []);
    });
  }

  it('gives all partitions of a table the same indexes', async () => {
    const database = (await emptyDatabase())();
    await migrate(database, machineClock);
    const { rows } = await database.query(INDEXES);
    const expected = new Map(rows.map((row) => [row.table, row.indexes]));
    assert.deepEqual([...expected.keys()], ['batches', 'message_records']);
    for (const { table, partition, indexes } of rows)
      assert.deepEqual(indexes, expected.get(table), partition);
  });
});

describe('the files', () => {
  it('make the same tables and functions without their comments, which the checksum leaves out', async () => {
    const [commented, bare] = [(await emptyDatabase())(), (await emptyDatabase())()];
    await migrate(commented, machineClock);
    const functions = [...(await knownFunctions()).objects].map(([name, { sql }]) => ({ name, sql }));
    // `schema_functions`, of which the shape of the other database has columns.
    await bare.query(MAKE_FUNCTION_LIST);
    for (const { name, sql } of [...known, ...functions]) {
      const statements = `SET check_function_bodies = off; ${withoutComments(sql)}`;
      await bare.query(statements).catch((error) => assert.fail(`${name}: ${error.message}`));
    }
    const shape = await shapeOf(bare);
    assert.ok(shape.columns.length > 100 && shape.functions.length > 50);
    assert.deepEqual(shape, await shapeOf(commented));
  });

  it('have schemas in order, each one more than the one before it', () => {
    const schemas = known.map(({ schema }) => schema);
    for (const [index, schema] of schemas.entries()) {
      const before = schemas[index - 1] ?? 1;
      assert.ok(schema === before || schema === before + 1, `${known[index]?.name} is of schema ${schema}`);
    }
  });

  it('say in the first line alone which schema they belong to, and whether they are additive', () => {
    const read = (sql: string) => {
      const { schema, additive } = readMigration('0002_x.sql', sql);
      return [schema, additive];
    };
    assert.deepEqual(read('-- Schema 2, additive.\n-- A table.\nCREATE TABLE x ();'), [2, true]);
    assert.deepEqual(read('-- Schema 12.\nDROP TABLE x;'), [12, false]);
    assert.deepEqual(read('-- A table.\nCREATE TABLE x ();'), [1, false]);
    for (const { name, sql, schema } of known) {
      assert.equal(schema > 1, /^-- *schema *\d/im.test(sql), name);
    }
  });
});
