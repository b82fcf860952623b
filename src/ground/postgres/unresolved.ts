/**
 * Reads again while a Citus cluster has a transaction that one machine committed and another one has not yet. Reads
 * `prepared_transactions` and sleeps. docs/scale.md, "What is different there", has the rule.
 */
import type { Clock } from '../base/clock.ts';
import { UnavailableError } from '../base/registration-failure.ts';
import { type Database, onlyRow } from './database.ts';

/** Citus commits on each machine in milliseconds, unless a machine or its server is lost meanwhile. */
const WAIT_MS = 2_000;
const PAUSE_MS = 50;
const PREPARED = 'SELECT prepared_transactions() AS names';

/**
 * Reads again while `isWhole` says that something is missing, and a machine may still get it. A Citus cluster commits
 * on one machine after the other: a row that another row or an answer names may be only prepared yet. Throws
 * `UnavailableError` if it stays so.
 */
export async function readWhole<T>(
  database: Database,
  clock: Clock,
  read: () => Promise<T>,
  isWhole: (found: T) => boolean,
): Promise<T> {
  let found = await read();
  const giveUpAt = clock.monotonicMs() + WAIT_MS;
  /** What was prepared when the first read had ended. A transaction that began later is of no concern. */
  let waitsFor: readonly string[] | null = null;
  while (!isWhole(found)) {
    const { names } = onlyRow((await database.query<{ names: string[] | null }>(PREPARED)).rows);
    if (names === null) return found;
    // Reads after the names, so that it sees the transactions that are resolved since.
    found = await read();
    waitsFor = (waitsFor ?? names).filter((name) => names.includes(name));
    if (waitsFor.length === 0 || isWhole(found)) return found;
    if (clock.monotonicMs() > giveUpAt)
      throw new UnavailableError('a transaction of the Citus cluster is unresolved');
    await clock.sleep(PAUSE_MS);
  }
  return found;
}
