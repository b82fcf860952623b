/**
 * Up to which number all batches are there. A registration takes its number before it commits, so a batch may come
 * after one with a higher number. Reads the sequence of the numbers and its locks by `numbers_taken`; nothing waits for
 * this.
 */
import type { Clock } from '../../../ground/base/clock.ts';
import { type Database, onlyRow } from '../../../ground/postgres/database.ts';

const TAKEN = 'SELECT n.last::float8, n.takers FROM numbers_taken() AS n';
const PREPARED = 'SELECT prepared_transactions() AS takers';

/** A registration takes milliseconds; one whose commit waits for a standby may take longer. */
const WAIT_MS = 1_000;
const PAUSE_MS = 20;

/** The last batch number that was given. */
export async function lastBatchNumber(database: Pick<Database, 'query'>): Promise<number> {
  return onlyRow((await database.query<{ last: number }>(TAKEN)).rows).last;
}

/**
 * A number up to which no batch is still to come: the last one that was given when this is called. Waits a second for
 * registrations under way; null: one goes on for longer.
 */
export async function settledBatchNumber(database: Database, clock: Clock): Promise<number | null> {
  const untilMs = clock.monotonicMs() + WAIT_MS;
  const takersBy = async (text: string) => {
    const { rows } = await database.query<{ takers: readonly string[] | null }>(text);
    return onlyRow(rows).takers;
  };
  const areGone = async (noted: readonly string[], text: string) => {
    for (let left = noted; left.length > 0; ) {
      if (clock.monotonicMs() > untilMs) return false;
      await clock.sleep(PAUSE_MS);
      const now = new Set(await takersBy(text));
      left = left.filter((taker) => now.has(taker));
    }
    return true;
  };
  const { last, takers } = onlyRow(
    (await database.query<{ last: number; takers: readonly string[] }>(TAKEN)).rows,
  );
  if (!(await areGone(takers, TAKEN))) return null;
  // A machine of a cluster may have committed before another one has: that one has prepared the transaction.
  return (await areGone((await takersBy(PREPARED)) ?? [], PREPARED)) ? last : null;
}
