/** A lock that another session holds, and what a job of the upkeep fails with then. */
import assert from 'node:assert/strict';
import type { Database } from '../../src/ground/postgres/database.ts';
import { eventually } from './eventually.ts';
import { waitingSessions } from './waiting-sessions.ts';

/** Runs `work` while another session holds what `lock` takes. */
export async function whileLocked(
  database: Database,
  lock: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const session = await database.connect();
  let isLost = true;
  try {
    await session.query('BEGIN');
    await session.query(lock);
    await work();
    await session.query('ROLLBACK');
    isLost = false;
  } finally {
    session.release(isLost);
  }
}

/**
 * Does `work` while another session holds what `lock` takes, until the work is over or `count` sessions wait for a
 * lock. So the work of several sessions at once overlaps, and work that has to pass over what is held shows by its
 * result whether it did. Hold what each of them writes last: then all of them have read before, and without a lock of
 * its own the work is wrong in every run.
 */
export async function besideLock<T>(
  database: Database,
  lock: string,
  work: () => Promise<T>,
  count = 1,
): Promise<T> {
  let done = null as Promise<T> | null;
  await whileLocked(database, lock, async () => {
    let isOver = false;
    done = work().finally(() => {
      isOver = true;
    });
    await eventually(
      `the end of the work, or ${count} to wait`,
      async () => isOver || (await waitingSessions(database)).length >= count,
    );
  });
  return done!;
}

/**
 * Passes for the error of a wait that took too long. On a cluster another machine may report it, as a failed connection
 * or with an error of its own; a session on a worker gets the coordinator's text alone.
 */
export function isLockTimeout(error: unknown): true {
  const { code, message } = error as { code?: string; message: string };
  const isKnown =
    code === '55P03' ||
    code === '08006' ||
    /lock timeout|cannot be locked|connection marked as essential/.test(message);
  assert.ok(isKnown, `${code}: ${message}`);
  return true;
}
