/**
 * Applies the numbered SQL files of `migrations/`, each once, in order, under one lock; takes no lock if all are
 * applied.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { type Database, SetupError } from './database.ts';
import { refuseWorker } from './distribution.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);
/** Longest wait for another process that migrates, and longest run of one file, in milliseconds. */
const MIGRATION_TIMEOUT_MS = 10 * 60_000;

/**
 * One transaction a file, with its lock and settings, because through a pooler the next transaction may have another
 * session. The numbers of the lock only have to differ from those of other users of the database.
 */
const BEGIN = `
  BEGIN ISOLATION LEVEL READ COMMITTED;
  SET LOCAL statement_timeout = ${MIGRATION_TIMEOUT_MS};
  SELECT pg_advisory_xact_lock(8726, 1)`;
const MAKE_LIST = `
  CREATE TABLE IF NOT EXISTS schema_migrations (
    name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`;
const IS_LISTED = "SELECT to_regclass('schema_migrations') IS NOT NULL AS is_listed";
const READ_LIST = 'SELECT name, checksum FROM schema_migrations ORDER BY name';
const READ_APPLIED = `
  SELECT name, current_setting('transaction_read_only') = 'off' AS writable FROM schema_migrations ORDER BY name`;

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

type AppliedMigration = Pick<Migration, 'name' | 'checksum'>;

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, FOLDER), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * Brings the database up to date and returns the names of the applied files. Each file is one transaction. If the
 * database is up to date, it is only read, without a lock. Throws `SetupError` if an applied file has changed, the
 * database is ahead of this version, the server is a worker of Citus, or `signal` aborts, which undoes the file under
 * way.
 */
export async function migrate(database: Database, signal?: AbortSignal): Promise<string[]> {
  const migrations = await readMigrations();
  const client = await database.connect();
  const run = (text: string, values: unknown[] = []) =>
    client.query({ text, values, query_timeout: MIGRATION_TIMEOUT_MS } as pg.QueryConfig);
  const abort = () => void client.end().catch(() => {});
  signal?.addEventListener('abort', abort, { once: true });
  const done: string[] = [];
  try {
    signal?.throwIfAborted();
    const listed = await run(IS_LISTED);
    if (listed.rows[0].is_listed) {
      const { rows } = await run(READ_LIST);
      if (pendingMigrations(migrations, rows as AppliedMigration[]).length === 0) return done;
    }
    await refuseWorker(async (text) => (await run(text)).rows);
    for (;;) {
      await run(BEGIN);
      await run(MAKE_LIST);
      const { rows } = await run(READ_LIST);
      const [next] = pendingMigrations(migrations, rows as AppliedMigration[]);
      if (next === undefined) {
        await run('COMMIT');
        return done;
      }
      await run(next.sql);
      await run('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [next.name, next.checksum]);
      await run('COMMIT');
      done.push(next.name);
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    // After a failure the session has an open transaction: end the session.
    client.release(true);
  }
}

function pendingMigrations(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): Migration[] {
  for (const [index, { name, checksum }] of applied.entries()) {
    const known = migrations[index];
    if (known?.name !== name) {
      throw new SetupError(
        `the database has migration ${name}, which this version does not: update the service`,
      );
    }
    if (known.checksum !== checksum) {
      throw new SetupError(`migration ${name} has changed since it was applied: restore the file`);
    }
  }
  return migrations.slice(applied.length);
}

/** True if the database answers, takes writes and has exactly this version's migrations. */
export async function isMigrated(database: Database): Promise<boolean> {
  const names = (await readMigrations()).map(({ name }) => name);
  const client = await database.connect();
  let ended = true;
  try {
    const { rows } = await client.query<{ name: string; writable: boolean }>(READ_APPLIED);
    const writable = rows.every((row) => row.writable);
    // A read-only session may stay so after its server takes writes again.
    ended = !writable;
    return writable && rows.length === names.length && rows.every(({ name }, index) => name === names[index]);
  } finally {
    client.release(ended);
  }
}
