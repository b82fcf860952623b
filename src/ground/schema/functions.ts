/**
 * Brings the functions, views, triggers and privileges of a database up to date with the SQL source of
 * `sql/functions/`: only what has changed. Reads these files, changes the schema, reads and writes `schema_functions`.
 * README.md has the rule.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { isNewer, version } from '../base/version.ts';
import { knownMigrations, withoutComments } from './migration-files.ts';

/** The name that stands for all functions in a list of migrations. */
export const FUNCTIONS = 'sql/functions';

const FOLDER = new URL('../../../sql/functions/', import.meta.url);

/** One object of the database, such as `FUNCTION take_claim` or `TRIGGER backlog_came ON review_items`. */
interface SourceObject {
  /** The statement that makes it, with the statements that belong to it. */
  readonly sql: string;
  /** The digest of what `CREATE OR REPLACE` cannot replace: arguments, result, and whether it runs as the owner. */
  readonly head: string;
  readonly checksum: string;
}

/** The source of this version. */
export interface FunctionSource {
  /** By name, each after what it needs when it is made. */
  readonly objects: ReadonlyMap<string, SourceObject>;
  /** The digest of all. */
  readonly checksum: string;
}

/** What a database has. */
export interface AppliedFunctions {
  /** The version of the program that applied them. */
  readonly version: string;
  readonly checksum: string;
}

let source: Promise<FunctionSource> | undefined;

/** The source of this version. It is read once. */
export async function knownFunctions(): Promise<FunctionSource> {
  source ??= readSource().catch((error) => {
    source = undefined;
    throw error;
  });
  return source;
}

async function readSource(): Promise<FunctionSource> {
  // Rooms have the order of their first migration: a room builds on those before it.
  const rooms = [...new Set((await knownMigrations()).map(({ name }) => /^\d+_([a-z]+)/.exec(name)?.[1]))];
  const names = (await readdir(FOLDER, { recursive: true })).filter((name) => name.endsWith('.sql')).sort();
  const files = rooms.flatMap((room) => names.filter((name) => name.split(/[/\\]/)[0] === room));
  const texts = await Promise.all(files.map((name) => readFile(new URL(name, FOLDER), 'utf8')));
  return readFunctions(texts);
}

/** The end of a statement, and what may hold a semicolon of its own: comments, strings and dollar quotes. */
const PIECE = /--[^\n]*|'(?:[^']|'')*'|\$(\w*)\$[\s\S]*?\$\1\$|;\n*/g;
const CREATED = /^CREATE OR REPLACE (?:(?:FUNCTION|VIEW) \w+|TRIGGER (\w+) .*? ON (\w+))/;
const PRIVILEGES = /^SELECT runtime_may\('[^']*', '(\w+)'\)/;
const HEAD = /^CREATE OR REPLACE FUNCTION .*? LANGUAGE /;

/** The statements of an object, also without comments. */
interface Text {
  readonly sql: string;
  readonly bare: string;
}

/**
 * The objects that these texts make. A later text may replace an object of an earlier text: a subject leaves a function
 * open, and another subject fills it in. Any other `SELECT` belongs to the object before it, and runs whenever that
 * object is made.
 */
export function readFunctions(texts: readonly string[]): FunctionSource {
  const objects = new Map<string, Text>();
  for (const text of texts) {
    let last: Text | undefined;
    for (const sql of statementsIn(text)) {
      const bare = withoutComments(sql);
      const name = nameOf(bare);
      if (name !== null) {
        last = { sql, bare };
        objects.set(name, last);
      } else if (last !== undefined) Object.assign(last, { sql: last.sql + sql, bare: last.bare + bare });
      else throw new Error(`no object: ${sql}`);
    }
  }
  const read = new Map([...objects].map(([name, text]) => [name, readObject(text)]));
  const all = [...read].map(([name, { checksum }]) => `${name} ${checksum}`).sort();
  return { objects: read, checksum: digest(all.join('\n')) };
}

function statementsIn(text: string): string[] {
  const ends = [...text.matchAll(PIECE)].filter(([piece]) => piece.startsWith(';'));
  const places = [0, ...ends.map(({ 0: piece, index }) => index + piece.length)];
  const rest = text.slice(places.at(-1));
  if (withoutComments(rest) !== '') throw new Error(`no semicolon: ${rest}`);
  return places.slice(1).map((end, index) => text.slice(places[index], end));
}

function nameOf(statement: string): string | null {
  const privileges = PRIVILEGES.exec(statement)?.[1];
  if (privileges !== undefined) return `PRIVILEGES ${privileges}`;
  const [created, trigger, table] = CREATED.exec(statement) ?? [];
  if (trigger !== undefined) return `TRIGGER ${trigger} ON ${table}`;
  return created?.slice('CREATE OR REPLACE '.length) ?? null;
}

function readObject({ sql, bare }: Text): SourceObject {
  const head = `${HEAD.exec(bare)?.[0] ?? ''}${bare.includes('SELECT runs_as_owner(')}`;
  return { sql, head: digest(head), checksum: digest(bare) };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/**
 * Whether a database lacks functions of this version. Those of a newer version are left as they are: this version works
 * beside it.
 */
export function areFunctionsPending(known: FunctionSource, applied: AppliedFunctions | undefined): boolean {
  return (
    applied === undefined || (applied.checksum !== known.checksum && !isNewer(applied.version, version()))
  );
}

/**
 * Whether a running process of this version cannot work with the functions of a database: those of an older version.
 * Those of another build of the same version may differ; both builds work.
 */
export function areFunctionsBehind(known: FunctionSource, applied: AppliedFunctions | null): boolean {
  return applied === null || (applied.checksum !== known.checksum && isNewer(version(), applied.version));
}

export const MAKE_FUNCTION_LIST = `
  CREATE TABLE IF NOT EXISTS schema_functions (
    id boolean PRIMARY KEY DEFAULT true CHECK (id), version text NOT NULL, checksum text NOT NULL,
    objects jsonb NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`;
const READ = 'SELECT version, checksum, objects FROM schema_functions';
const WRITE = `
  INSERT INTO schema_functions (version, checksum, objects) VALUES ($1, $2, $3) ON CONFLICT (id)
  DO UPDATE SET version = excluded.version, checksum = excluded.checksum, objects = excluded.objects, applied_at = now()`;
/** Bodies name functions that come later. */
const LATE_BOUND = 'SET LOCAL check_function_bodies = off';
const REVOKE = "DELETE FROM runtime_privileges WHERE split_part(name, '(', 1) = ANY ($1)";

/** The head and the checksum of an object that a database has. */
type AppliedObject = Pick<SourceObject, 'head' | 'checksum'>;

/**
 * Brings the functions of a database up to date in the transaction of `run`, whose tables are up to date: makes what is
 * new or changed, and drops what the source has no longer or what cannot be replaced. Returns whether anything was
 * pending.
 */
export async function applyFunctions(
  run: (text: string, values?: unknown[]) => Promise<pg.QueryResult>,
): Promise<boolean> {
  const known = await knownFunctions();
  const [applied] = (await run(READ)).rows;
  if (!areFunctionsPending(known, applied)) return false;
  const before = new Map(Object.entries<AppliedObject>(applied?.objects ?? {}));
  const stale = [...before].filter(([name, { head }]) => known.objects.get(name)?.head !== head);
  const changed = [...known.objects].filter(
    ([name, { checksum }]) => before.get(name)?.checksum !== checksum,
  );
  const names = stale.map(([name]) => name);
  await run(LATE_BOUND);
  for (const kind of ['TRIGGER', 'VIEW', 'FUNCTION'])
    for (const name of names.filter((one) => one.startsWith(kind))) await run(`DROP ${name}`);
  if (names.length > 0) await run(REVOKE, [names.map((name) => name.split(' ')[1])]);
  await run(changed.map(([, { sql }]) => sql).join(''));
  const objects = [...known.objects].map(([name, { head, checksum }]) => [name, { head, checksum }]);
  await run(WRITE, [version(), known.checksum, Object.fromEntries(objects)]);
  return true;
}
