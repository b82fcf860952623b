/**
 * A store that a release wrote: its SQL, its rows, and what commands of the release showed of them. It is restored here
 * without the program of that release.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { version } from '../../src/ground/base/version.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { knownFunctions, MAKE_FUNCTION_LIST } from '../../src/ground/schema/functions.ts';
import { knownMigrations } from '../../src/ground/schema/migration-files.ts';
import { MAKE_LIST } from '../../src/ground/schema/migrations.ts';

interface ReleasedStore {
  readonly version: string;
  /** What makes the schema of the release. */
  readonly schema: readonly string[];
  /** The next number of each sequence. */
  readonly sequences: Readonly<Record<string, string>>;
  /** The rows of each table, as PostgreSQL writes them: JavaScript has no numbers of their size. */
  readonly rows: Readonly<Record<string, string>>;
  /** What commands showed. */
  readonly shown: Shown;
}

/** The answer of each command. */
export type Shown = readonly (readonly [args: string, answer: unknown])[];

const fileOf = (release: string) => join(import.meta.dirname, `store-${release}.json.gz`);

export function releasedStore(): ReleasedStore {
  return JSON.parse(gunzipSync(readFileSync(fileOf('1.0'))).toString());
}

const TABLES = `
  SELECT relname AS name FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`;
const SEQUENCES = `
  SELECT sequencename AS name, coalesce(last_value, 0)::text AS last FROM pg_sequences
  WHERE schemaname = 'public' ORDER BY 1`;

/** The rows of each table. The order is that of their text. */
export async function rowsOf(database: Database): Promise<Record<string, string>> {
  const rows: Record<string, string> = {};
  for (const { name } of (await database.query<{ name: string }>(TABLES)).rows) {
    const all = await database.query<{ rows: string | null }>(
      `SELECT jsonb_agg(to_jsonb(t) ORDER BY t::text)::text AS rows FROM "${name}" t`,
    );
    rows[name] = all.rows[0]?.rows ?? '[]';
  }
  return rows;
}

/** Writes the store of this version. Throws if a table has no row, and if the release has its store already. */
export async function writeStore(
  database: Database,
  shown: Shown,
  rows: ReleasedStore['rows'],
): Promise<number> {
  const empty = Object.keys(rows).filter((name) => rows[name] === '[]');
  if (empty.length > 0) throw new Error(`without rows: ${empty.join(', ')}`);
  const functions = [...(await knownFunctions()).objects.values()].map(({ sql }) => sql).join('');
  const sequences = (await database.query<{ name: string; last: string }>(SEQUENCES)).rows;
  const store: ReleasedStore = {
    version: version(),
    schema: [MAKE_LIST, MAKE_FUNCTION_LIST, ...(await knownMigrations()).map(({ sql }) => sql), functions],
    sequences: Object.fromEntries(sequences.map(({ name, last }) => [name, last])),
    rows,
    shown,
  };
  const bytes = gzipSync(JSON.stringify(store), { level: 9 });
  writeFileSync(fileOf(version().split('.').slice(0, 2).join('.')), bytes, { flag: 'wx' });
  return bytes.length;
}

/** Makes the store in an empty database, for its owner. */
export async function restoreStore(database: Database): Promise<ReleasedStore> {
  const store = releasedStore();
  const client = await database.connect();
  try {
    await client.query('BEGIN; SET LOCAL check_function_bodies = off');
    for (const sql of store.schema) await client.query(sql);
    for (const [name, last] of Object.entries(store.sequences))
      if (last !== '0') await client.query('SELECT setval($1::regclass, $2)', [name, last]);
    // The partitions go as far as the numbers of the batches.
    await client.query('SELECT make_batch_partitions()');
    await client.query("SET LOCAL session_replication_role = 'replica'");
    for (const [name, rows] of Object.entries(store.rows)) {
      await client.query(`DELETE FROM "${name}"`);
      await client.query(
        `INSERT INTO "${name}" OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::"${name}", $1)`,
        [rows],
      );
    }
    await client.query('COMMIT');
  } finally {
    client.release();
  }
  return store;
}

type Run = (
  ...args: string[]
) => Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
type Row = Readonly<Record<string, unknown>>;

/**
 * What operators see of the store, by commands: the lists, and each application and partner by itself. Acts come first,
 * because revealing adds to them.
 */
export async function showStore(run: Run): Promise<Shown> {
  const shown: [string, unknown][] = [];
  const show = async (...args: string[]) => {
    const { code, out, err } = await run(...args, '--json');
    const answer = code === 0 ? JSON.parse(out) : err;
    shown.push([args.join(' '), answer]);
    return (code === 0 ? answer : []) as Row[];
  };
  await show('audit', 'list');
  await show('audit', 'verify');
  for (const group of ['key', 'message', 'reply', 'suppression', 'document', 'operator'])
    await show(group, 'list');
  for (const { id } of await show('partner', 'list')) await show('event', 'list', '--partner', `${id}`);
  for (const { id } of await show('application', 'list')) {
    await show('application', 'show', `${id}`, '--reveal', '--reason', 'test');
    await show('message', 'show', `${id}`);
  }
  for (const { application_id: id } of await show('conversation', 'list')) {
    await show('conversation', 'show', `${id}`, '--reveal', '--reason', 'test');
    await show('income', 'show', `${id}`);
  }
  return shown;
}

/**
 * Whether what is shown now has everything that was shown then: a later version may show more members of an object, and
 * not fewer or others.
 */
export function showsAll(now: unknown, then: unknown): boolean {
  if (typeof then !== 'object' || then === null) return now === then;
  if (typeof now !== 'object' || now === null) return false;
  if (Array.isArray(then) && (now as unknown[]).length !== then.length) return false;
  return Object.entries(then).every(([name, value]) => showsAll((now as Row)[name], value));
}
