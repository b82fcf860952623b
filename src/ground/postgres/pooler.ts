/**
 * Checks at a start that a connection pooler before the database supports prepared statements (README.md, "Sessions").
 * Makes a prepared statement in a session, and removes it.
 */
import type pg from 'pg';
import { errorCode } from '../base/describe-error.ts';
import { type Database, inTransaction, onlyRow } from './database.ts';
import { SetupError } from './setup-error.ts';

const PROBE = 'ventanilla_probe';
/** The server knows the statement by its own name, unless the pooler renames it. */
const FIND_PROBE = { name: PROBE, text: `SELECT FROM pg_prepared_statements WHERE name = '${PROBE}'` };
const TRIES = 3;

/**
 * Refuses a pooler that gives each transaction another session and does not support prepared statements: the
 * service's statements would fail now and then, as they do with PgBouncer before 1.21 in transaction mode. Throws
 * `SetupError` that says what to do.
 */
export async function checkPooler(database: Database): Promise<void> {
  if (!(await sharesSessions(database)) || (await supportsStatements(database))) return;
  throw new SetupError(
    'DATABASE_URL leads through a connection pooler that gives each transaction another session and does not support ' +
      'prepared statements: use PgBouncer 1.21 or newer with max_prepared_statements above 0, or its ' +
      'pool_mode = session',
  );
}

/** Two connections that are open together have a session each, or use the session that the other just left. */
async function sharesSessions(database: Database): Promise<boolean> {
  const firstClient = await database.connect();
  try {
    if ((await backendOf(firstClient)) === (firstClient as unknown as { processID: number }).processID)
      return false;
    const secondClient = await database.connect();
    try {
      const [ofFirst, ofSecond] = [new Set<number>(), new Set<number>()];
      for (let count = 0; count < TRIES; count += 1) {
        ofFirst.add(await backendOf(firstClient));
        ofSecond.add(await backendOf(secondClient));
      }
      return [...ofFirst].some((pid) => ofSecond.has(pid));
    } finally {
      secondClient.release();
    }
  } finally {
    firstClient.release();
  }
}

async function backendOf(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return onlyRow(rows).pid;
}

async function supportsStatements(database: Database): Promise<boolean> {
  try {
    return await inTransaction(database, async (session) => {
      const { rows } = await session.query(FIND_PROBE);
      // Other clients get the session next.
      if (rows.length > 0) await session.query(`DEALLOCATE ${PROBE}`);
      return rows.length === 0;
    });
  } catch (error) {
    // Another start has left the statement there.
    if (errorCode(error) === '42P05') return false;
    throw error;
  }
}
