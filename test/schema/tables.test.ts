/** What the rooms declare of their tables (`src/ground/postgres/table.ts`) is so in the store. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeclared } from '../../src/ground/postgres/table.ts';
import { testDatabase } from '../support/database.ts';
import { declaredTables } from '../support/tables.ts';

const { database } = await testDatabase();
const TABLES = (await declaredTables()).map(({ table }) => table);
const KEPT = TABLES.filter((table) => isDeclared(table, 'kept'));
const SEALED = TABLES.filter((table) => isDeclared(table, 'sealed'));
const INDEXES = TABLES.flatMap(({ name, indexes = [] }) =>
  indexes.map((index) => ({ table: name, ...index })),
);

/** A row a partner, or an operator: no index tells what a data key has sealed there. */
const FEW_SEALED = ['operators', 'partner_endpoints'];
/** Blind indexes that are made again by partition, or whose rows move (`sql/reindex.ts` of their subjects). */
const BY_HAND = [
  ...['message_records.channel_message_id', 'message_records_after_reviews.channel_message_id'],
  'open_phones.phone_index',
];

interface Index {
  readonly table: string;
  /** The columns, or expressions, as PostgreSQL writes them. */
  readonly columns: readonly string[];
  readonly isUnique: boolean;
  readonly isPrimary: boolean;
}

async function indexes(): Promise<Index[]> {
  const { rows } = await database.query<Index>(`
    SELECT i.indrelid::regclass::text AS table, i.indisunique AS "isUnique", i.indisprimary AS "isPrimary",
      ARRAY(SELECT pg_get_indexdef(i.indexrelid, n, true) FROM generate_series(1, i.indnkeyatts) AS n) AS columns
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.relnamespace = current_schema()::regnamespace`);
  return rows;
}

describe('the declared tables', async () => {
  const all = await indexes();
  const has = (table: string, fits: (index: Index) => boolean) =>
    all.some((index) => index.table === table && fits(index));

  it('have names that a statement takes as they are', () => {
    const names = TABLES.flatMap(({ name, kept, fold, sealed, indexes = [] }) => [
      ...[
        name,
        ...(typeof kept?.by === 'string' ? [kept.by] : []),
        ...(fold?.key ?? []),
        ...(fold?.sums ?? []),
      ],
      ...(sealed === undefined ? [] : [sealed.column, sealed.id]),
      ...indexes.map(({ column }) => column),
    ]);
    assert.deepEqual(
      names.filter((name) => !/^[a-z_]+$/.test(name)),
      [],
    );
  });

  it('whose rows go by their age have an index that begins with that column, or a few rows', () => {
    assert.ok(KEPT.length > 10);
    const astray = KEPT.filter(
      ({ name, kept: { by } }) => typeof by === 'string' && !has(name, ({ columns }) => columns[0] === by),
    );
    assert.deepEqual(astray, []);
  });

  it('with sealed values have the declared key, and an index that begins with the id of the data key', () => {
    assert.ok(SEALED.length > 7);
    for (const { name, sealed } of SEALED) {
      assert.ok(
        has(name, ({ isPrimary, columns }) => isPrimary && columns.join() === sealed.id),
        name,
      );
      const first = `SUBSTRING(${sealed.column} FROM 1 FOR 1)`;
      const isFound = has(name, ({ columns }) => columns[0] === first);
      assert.equal(isFound, !FEW_SEALED.includes(name), name);
    }
  });

  it('have all blind indexes, and those of a row alone are unique', async () => {
    const { rows } = await database.query<{ name: string }>(`
      SELECT c.relname || '.' || a.attname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
        AND (NOT c.relispartition OR c.relname !~ '_to_') AND a.atttypid = 'bigint'::regtype
        AND (a.attname ~ '_index$' OR a.attname = 'channel_message_id') ORDER BY 1`);
    const declared = [...INDEXES.map(({ table, column }) => `${table}.${column}`), ...BY_HAND];
    assert.deepEqual(rows.map(({ name }) => name).toSorted(), declared.toSorted());
    for (const { table, column, isUnique = false } of INDEXES) {
      const isFound = has(table, (index) => index.isUnique && index.columns.join() === column);
      assert.equal(isFound, isUnique, `${table}.${column}`);
    }
  });
});
