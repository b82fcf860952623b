/** Database sessions without the service's limits of time. */
import type pg from 'pg';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { openDatabase } from '../../src/ground/postgres/open-database.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import { PATIENCE_MS } from './eventually.ts';

/** With a real service's limits of statements. A new session may take long on a busy machine. */
export function openWithLimits(connectionString: string, max = 10, sessionWithinMs = PATIENCE_MS): Database {
  const pool = openDatabase({ connectionString }, { max, onError: () => {}, clock: machineClock });
  pool.options.connectionTimeoutMillis = sessionWithinMs;
  return pool;
}

/**
 * A pool whose sessions and answers may take long on a busy machine: for a test, and for the program where its limits
 * of time are no subject of the test. A transaction that holds a lock for a test stays open as long as the test wants.
 */
export function openPatiently(connectionString: string, max = 10): Database {
  const pool = openDatabase({ connectionString }, { max, onError: () => {}, clock: machineClock });
  const { onConnect } = pool.options;
  Object.assign(pool.options, {
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
    onConnect: async (client: pg.ClientBase) => {
      await onConnect?.(client);
      await client.query(
        `SET idle_in_transaction_session_timeout = 0; SET statement_timeout = ${PATIENCE_MS}`,
      );
    },
  });
  return pool;
}

/** Makes the schema of a database that a test opens with real limits: on a busy machine that takes longer. */
export async function migratePatiently(connectionString: string): Promise<void> {
  const pool = openPatiently(connectionString, 1);
  await migrate(pool, machineClock).finally(() => pool.end());
}
