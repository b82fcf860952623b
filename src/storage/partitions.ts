/**
 * The partitions of `batches`: made ahead of registration, put into look-up buckets when they are closed, and deleted
 * when they are old.
 */

import type { BatchId } from '../domain/application/ids.ts';
import { type Database, inTransaction } from './database.ts';

/** More batches than can come before the next turn of the upkeep, at any measured rate. */
const AHEAD = 32_768;

const MAKE = 'SELECT make_batch_partitions($1)';

/** Makes partitions ahead of the last batch. Any number of processes may do this at once. */
export async function makePartitions(database: Database): Promise<void> {
  await database.query(MAKE, [AHEAD]);
}

/** A partition of a million applications takes a few seconds. */
const TIMEOUT_MS = 5 * 60_000;
const FILL = 'SELECT fill_look_up_buckets() AS applications';

/**
 * Puts closed partitions into the buckets of `migrations/0010_look_up.sql`, one a transaction, until none is left or
 * another process does it. Registration and review go on meanwhile; rewriting an envelope of the partition waits.
 */
export async function fillLookUpBuckets(database: Database): Promise<void> {
  while ((await onPartition(database, FILL, [])).applications !== null);
}

const FORGET = 'SELECT applications, unreadable FROM forget_partition($1)';

/**
 * Deletes partitions that were closed `days` ago and hold no open application (`migrations/0011_retention.sql`), one
 * a transaction. Returns how many applications they held. `onUnreadable` is called with batches that keep their
 * partition, because their facts do not tell whether an application is open.
 */
export async function forgetPartitions(
  database: Database,
  days: number,
  onUnreadable: (batchIds: readonly BatchId[]) => void = () => {},
): Promise<number> {
  let forgotten = 0;
  for (;;) {
    const { applications, unreadable = [] } = await onPartition(database, FORGET, [days]);
    if (applications === null) {
      if (unreadable.length > 0) onUnreadable(unreadable);
      return forgotten;
    }
    forgotten += Number(applications);
  }
}

interface PartitionResult {
  /** The number of the partition's applications; null if no partition was left. */
  readonly applications: string | null;
  /** Ids of batches. */
  readonly unreadable?: readonly BatchId[];
}

/** Runs a statement on a whole partition. */
function onPartition(database: Database, text: string, values: unknown[]): Promise<PartitionResult> {
  return inTransaction(database, async (session) => {
    await session.query(`SET LOCAL statement_timeout = ${TIMEOUT_MS}`);
    const query = { text, values, query_timeout: TIMEOUT_MS };
    const { rows } = await session.query<PartitionResult>(query);
    return rows[0] ?? { applications: null };
  });
}
