/**
 * Opens the embedded store for the backup commands with two sessions, and ends them (docs/backup.md). Connects over
 * loopback.
 */
import type { Clock } from '../../ground/base/clock.ts';
import type { EmbeddedConnection } from '../../ground/embedded/session.ts';
import type { Database } from '../../ground/postgres/database.ts';
import { openDatabase } from '../../ground/postgres/open-database.ts';

/** Longer than for requests: a server that was just recovered has read nothing from the disk yet. */
const CONNECT_WITHIN_MS = 30_000;

/** Runs `work` on the embedded store, with two sessions at most, and ends them. */
export async function withDatabase<T>(
  connection: EmbeddedConnection,
  clock: Clock,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = openDatabase(connection, {
    clock,
    max: 2,
    onError: () => {},
    connectWithinMs: CONNECT_WITHIN_MS,
  });
  try {
    return await work(database);
  } finally {
    await database.end();
  }
}
