/**
 * Applies the files of `migrations/`, each once and in order, then the changed functions; and tells whether a version
 * of the program works on the schema that a database has. Takes a lock only if something is missing. Changes the
 * schema, reads and writes `schema_migrations`. README.md has the rule.
 */
import type pg from 'pg';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/describe-error.ts';
import { type Database, onlyRow } from '../postgres/database.ts';
import { SetupError } from '../postgres/setup-error.ts';
import { refuseWorker, spreadFunctions } from './distribution.ts';
import {
  type AppliedFunctions,
  applyFunctions,
  areFunctionsBehind,
  areFunctionsPending,
  FUNCTIONS,
  knownFunctions,
  MAKE_FUNCTION_LIST,
} from './functions.ts';
import { knownMigrations, type Migration } from './migration-files.ts';

/** Longest wait for another process that migrates, and longest run of one file, in milliseconds. */
const MIGRATION_TIMEOUT_MS = 10 * 60_000;

/**
 * How long a file waits for a lock on a table before it is undone and tried again, and the pause before that. All other
 * work on the table waits behind a waiting file. So a long transaction, such as a backup, must not stop the file and
 * this work for long.
 */
const LOCK_TIMEOUT_MS = 500;
const PAUSE_MS = 1_500;
/** Codes of PostgreSQL: lock not available, deadlock detected. */
const IN_THE_WAY = ['55P03', '40P01'];

/**
 * One transaction a file, with its lock and settings, because through a pooler the next transaction may have another
 * session. The lock's numbers only have to differ from other locks of the database.
 */
const BEGIN = `
  BEGIN ISOLATION LEVEL READ COMMITTED;
  SET LOCAL statement_timeout = ${MIGRATION_TIMEOUT_MS};
  SELECT pg_advisory_xact_lock(8726, 1);
  SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`;
/** Makes the list of applied migrations. */
export const MAKE_LIST = `
  CREATE TABLE IF NOT EXISTS schema_migrations (
    name text PRIMARY KEY, checksum text NOT NULL, schema integer NOT NULL, additive boolean NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now())`;
/**
 * A role that may not read the list is one that the owner has not granted anything yet. Stores of before 1.0 have no
 * list of functions.
 */
const IS_LISTED = `
  SELECT has_table_privilege(to_regclass('schema_migrations'), 'SELECT') AS is_listed,
    to_regclass('schema_functions') IS NOT NULL AS has_functions`;
// Every column, because the table of a store of 0.1.0 has fewer.
const READ_LIST = 'SELECT * FROM schema_migrations ORDER BY name';
const READ_APPLIED = `
  SELECT m.*, current_setting('transaction_read_only') = 'off' AS writable,
    (SELECT json_build_object('version', f.version, 'checksum', f.checksum) FROM schema_functions f) AS functions
  FROM schema_migrations m ORDER BY m.name`;
const READ_FUNCTIONS = 'SELECT version, checksum FROM schema_functions';
const ADD_TO_LIST =
  'INSERT INTO schema_migrations (name, checksum, schema, additive) VALUES ($1, $2, $3, $4)';

type Run = (text: string, values?: unknown[]) => Promise<pg.QueryResult>;

/**
 * Brings the database up to date and returns the names of the applied files. Each file is one transaction, and all
 * functions together are one (`FUNCTIONS`). If the
 * database is up to date, or a newer version has upgraded it and this version works beside that one, it is only read,
 * without a lock. After a failure it may be called again with the same `done`, which gets the names. Throws
 * `SetupError` if an applied file has changed, this version does not work on the database, the server is a worker of
 * Citus, or `signal` aborts, which undoes the file under way.
 */
export async function migrate(
  database: Database,
  clock: Clock,
  signal?: AbortSignal,
  done = new Set<string>(),
): Promise<string[]> {
  const { fault, pending } = await schemaFit(database);
  if (fault !== null) throw new SetupError(fault);
  if (pending.length > 0) await applyAll(database, clock, done, signal);
  return [...done];
}

async function applyAll(
  database: Database,
  clock: Clock,
  done: Set<string>,
  signal?: AbortSignal,
): Promise<void> {
  const migrations = await knownMigrations();
  const client = await database.connect();
  const run: Run = (text, values = []) =>
    client.query({ text, values, query_timeout: MIGRATION_TIMEOUT_MS } as pg.QueryConfig);
  const abort = () => void client.end().catch(() => {});
  signal?.addEventListener('abort', abort, { once: true });
  try {
    signal?.throwIfAborted();
    await refuseWorker(async (text) => (await run(text)).rows);
    const giveUpAt = clock.monotonicMs() + MIGRATION_TIMEOUT_MS;
    for (let isOver = false; !isOver; ) {
      try {
        isOver = await applyNext(run, migrations, done);
      } catch (error) {
        if (!IN_THE_WAY.includes(errorCode(error) ?? '') || clock.monotonicMs() > giveUpAt) throw error;
        await run('ROLLBACK');
        await clock.sleep(PAUSE_MS, { signal });
      }
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    // After a failure the session has an open transaction: end the session.
    client.release(true);
  }
}

/** Applies the first file that the database lacks; else the functions. Resolves to true if no file is lacking. */
async function applyNext(run: Run, migrations: readonly Migration[], done: Set<string>): Promise<boolean> {
  await run(BEGIN);
  await run(MAKE_LIST);
  await run(MAKE_FUNCTION_LIST);
  const [next] = pendingMigrations(migrations, (await run(READ_LIST)).rows);
  if (next !== undefined) {
    await run(next.sql);
    await run(ADD_TO_LIST, [next.name, next.checksum, next.schema, next.additive]);
    // The list grows before the commit, because the answer of the commit may be lost. A commit that failed is tried
    // again.
    done.add(next.name);
  } else if (await applyFunctions(run)) {
    await spreadFunctions(async (text, values) => (await run(text, values)).rows);
    done.add(FUNCTIONS);
  }
  await run('COMMIT');
  return next === undefined;
}

function pendingMigrations(known: readonly Migration[], applied: AppliedMigration[]): readonly Migration[] {
  const { fault, pending } = fitOf(known, applied);
  if (fault !== null) throw new SetupError(fault);
  return pending;
}

const ELSEWHERE = 'start the version that made it, or give this version an empty database or DATA_DIR';
const BEFORE_1_0 = `a version before 1.0 made the database, and no later version takes over its store: ${ELSEWHERE}`;

/** Compares the migrations of this version with those of the database. Only reads. */
export async function schemaFit(database: Database): Promise<SchemaFit> {
  const known = await knownMigrations();
  const { is_listed, has_functions } = onlyRow((await database.query(IS_LISTED)).rows);
  const applied = is_listed ? (await database.query<AppliedMigration>(READ_LIST)).rows : [];
  if (applied.length > 0 && !has_functions) return { fault: BEFORE_1_0, pending: [], isRolling: false };
  const [functions] = has_functions ? (await database.query<AppliedFunctions>(READ_FUNCTIONS)).rows : [];
  const fit = fitOf(known, applied);
  if (!areFunctionsPending(await knownFunctions(), functions)) return fit;
  return { ...fit, pending: [...fit.pending, { name: FUNCTIONS }] };
}

/**
 * True if the database answers, takes writes, and has a schema that this version works on. `onMisfit` is called with
 * what is wrong with the schema.
 */
export async function isMigrated(
  database: Database,
  onMisfit: (fault: string) => void = () => {},
): Promise<boolean> {
  const known = await knownMigrations();
  const client = await database.connect();
  let ended = true;
  try {
    const { rows } = await client.query<AppliedRow>(READ_APPLIED);
    const writable = rows.every((row) => row.writable);
    // A read-only session may stay so after its server takes writes again.
    ended = !writable;
    const { fault, pending } = fitOf(known, rows);
    const source = await knownFunctions();
    const isBehind =
      pending.length > 0 || rows.some(({ functions }) => areFunctionsBehind(source, functions));
    const misfit = fault ?? (isBehind ? 'migrations are pending: run `ventanilla migrate`' : null);
    if (misfit !== null) onMisfit(misfit);
    return writable && misfit === null;
  } finally {
    client.release(ended);
  }
}

/** A row of the table of applied migrations. */
type AppliedMigration = Pick<Migration, 'name' | 'checksum' | 'schema' | 'additive'>;

/** An applied migration, with facts about its whole database. */
interface AppliedRow extends AppliedMigration {
  readonly writable: boolean;
  readonly functions: AppliedFunctions | null;
}

/** What a version finds in a database. */
interface SchemaFit {
  /** Why this version does not work on the database, for operators; null if it does. */
  readonly fault: string | null;
  /** The migrations that the database lacks, and `FUNCTIONS` if these are to be applied. */
  readonly pending: readonly Pick<Migration, 'name'>[];
  /** True if processes of the version that made the tables go on working while the pending migrations are applied. */
  readonly isRolling: boolean;
}

/**
 * Compares a version's own migrations with the applied ones, both in order. The applied ones may end with migrations
 * that the version does not know, if all are of the next schema and additive: then a newer version has upgraded the
 * database, and this version works beside it until it is replaced.
 */
export function fitOf(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): SchemaFit & { readonly pending: readonly Migration[] } {
  const faults = applied.map((migration, index) => faultOf(known, migration, index));
  const pending = known.slice(applied.length);
  const next = (applied.at(-1)?.schema ?? 0) + 1;
  return {
    fault: faults.find((fault) => fault !== null) ?? null,
    pending,
    // An empty database has no processes.
    isRolling: applied.length === 0 || pending.every(({ schema, additive }) => additive && schema === next),
  };
}

function faultOf(known: readonly Migration[], applied: AppliedMigration, index: number): string | null {
  const { name, checksum, schema, additive } = applied;
  const own = known[index];
  if (own?.name === name && own.checksum === checksum) return null;
  const next = (known.at(-1)?.schema ?? 0) + 1;
  if (own === undefined && additive && schema === next) return null;
  if (own === undefined && schema >= next) {
    const what =
      schema > next
        ? `${name} of schema ${schema}, and this version works up to schema ${next}`
        : `${name}, which this version does not know and cannot work beside`;
    return `the database has migration ${what}: update the service`;
  }
  const what = own?.name === name ? 'is not the same here' : 'is not there in this version';
  return `another version of Ventanilla made the database: its migration ${name} ${what}: ${ELSEWHERE}`;
}
