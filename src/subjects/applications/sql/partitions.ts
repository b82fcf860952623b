/**
 * The partitions of `batches`: makes them ahead of registration, leaves them when they are full, puts them into look-up
 * buckets segment by segment, and deletes them when they are old. Writes by `make_batch_partitions`, `leave_partition`,
 * `close_segments`, `fill_look_up_buckets` and `forget_partition`. docs/decisions/0006-one-row-a-batch.md,
 * docs/upkeep.md.
 */

import type pg from 'pg';
import type { BatchId } from '../../../domain/application/ids.ts';
import { type Clock, DAY_MS } from '../../../ground/base/clock.ts';
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';

/** With so many applications a partition, two years of 10 million a day are 870 partitions (docs/decisions/0006). */
const PARTITION_APPLICATIONS = 8_388_608;
/**
 * The longest time that a partition is in use. So in a small installation applications may stay for this much longer
 * than RETENTION_DAYS.
 */
const PARTITION_MS = 7 * DAY_MS;

const MAKE = 'SELECT make_batch_partitions()';
/** On a busy cluster a partition takes seconds. Registrations continue meanwhile, in the existing partitions. */
export const MAKE_AHEAD_MS = 30_000;

/**
 * Makes the partition after the one in use, for a registration that waits for it: within the time of any statement. Any
 * number of processes may do this at once.
 */
export async function makePartitions(database: Database): Promise<void> {
  await database.query(MAKE);
}

/**
 * Makes the partition after the one in use ahead of registrations, with more time than these have. Throws if another
 * session holds a needed lock for longer than a second, and on a cluster while a shard moves: the next turn tries
 * again.
 */
export async function makePartitionsAhead(database: Database): Promise<void> {
  await withTime(database, MAKE_AHEAD_MS, MAKE, []);
}

const LEAVE = 'SELECT leave_partition($1, $2) AS left';

/**
 * Lets new batches use the next partition if the present one is full or old. Returns whether it was. Any number of
 * processes may do this at once. Throws if registrations under way hold the batch numbers for longer than half a
 * second: the next turn tries again.
 */
export async function leavePartition(
  database: Database,
  applications = PARTITION_APPLICATIONS,
  longestMs = PARTITION_MS,
): Promise<boolean> {
  return (await database.query<{ left: boolean }>(LEAVE, [applications, longestMs])).rows[0]?.left === true;
}

/** A segment of a million applications takes a few seconds, and an old partition may take a minute. */
const TIMEOUT_MS = 5 * 60_000;
const CLOSE = 'SELECT close_segments(coalesce($1, segment_applications()))';
const FILL = 'SELECT fill_look_up_buckets() AS applications';

/**
 * Closes segments of about so many applications (null: a million) or of many batches, at most 16. Puts all that were
 * closed a minute ago into the buckets of `sql/functions/applications/look-up.sql`, one a transaction, until none is
 * left or another process does it. Registration and review continue meanwhile.
 */
export async function fillLookUpBuckets(
  database: Database,
  applications: number | null = null,
): Promise<void> {
  await database.query(CLOSE, [applications]);
  while ((await onPartition(database, FILL, [])).applications !== null);
}

/** Other jobs of the upkeep wait meanwhile. The next turn goes on. */
const FORGET_FOR_MS = 60_000;
const FORGET = 'SELECT applications, unreadable FROM forget_partition($1, $2)';

/**
 * Deletes the rejected applications of partitions that were closed `days` ago, and the disbursed ones of those that
 * were closed `disbursedDays` ago: whole partitions without what has to stay (`sql/functions/applications/forget.sql`),
 * one in each transaction, for about a minute. Returns how many applications were deleted. `onUnreadable` is called
 * with batches that are kept, because their facts do not tell whether an application is open.
 */
export async function forgetPartitions(
  database: Database,
  clock: Clock,
  days: number,
  onUnreadable: (batchIds: readonly BatchId[]) => void = () => {},
  disbursedDays = days,
): Promise<number> {
  let forgotten = 0;
  const until = clock.monotonicMs() + FORGET_FOR_MS;
  while (clock.monotonicMs() < until) {
    const { applications, unreadable = [] } = await onPartition(database, FORGET, [days, disbursedDays]);
    if (unreadable.length > 0) onUnreadable(unreadable);
    if (applications === null) break;
    forgotten += Number(applications);
  }
  return forgotten;
}

interface PartitionResult {
  /** The number of the partition's applications; null if no partition was left. */
  readonly applications: string | null;
  /** Ids of batches. */
  readonly unreadable?: readonly BatchId[];
}

/** Runs a statement on a whole partition. */
async function onPartition(database: Database, text: string, values: unknown[]): Promise<PartitionResult> {
  const [row] = await withTime<PartitionResult>(database, TIMEOUT_MS, text, values);
  return row ?? { applications: null };
}

/** Runs a statement that may take longer than other statements, in a transaction of its own. */
export function withTime<Row extends pg.QueryResultRow>(
  database: Database,
  timeoutMs: number,
  text: string,
  values: unknown[],
): Promise<Row[]> {
  return inTransaction(database, async (session) => {
    await session.query(`SET LOCAL statement_timeout = ${timeoutMs}`);
    const query = { text, values, query_timeout: timeoutMs };
    return (await session.query<Row>(query)).rows;
  });
}
