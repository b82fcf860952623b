/** The files of the migrations: what their checksum counts, and what their first line says. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Database } from '../../src/storage/database.ts';
import { knownMigrations, readMigration } from '../../src/storage/migration-files.ts';
import { migrate } from '../../src/storage/migrations.ts';
import { withoutComments } from '../../src/storage/sql-comments.ts';
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

describe('the files', () => {
  it('make the same tables and functions without their comments, which the checksum leaves out', async () => {
    const [commented, bare] = [(await emptyDatabase())(), (await emptyDatabase())()];
    await migrate(commented);
    for (const { name, sql } of known) {
      await bare.query(withoutComments(sql)).catch((error) => assert.fail(`${name}: ${error.message}`));
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
