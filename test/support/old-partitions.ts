/** Partitions that are full, closed and old, without the time that this takes. */
import type { Database } from '../../src/ground/postgres/database.ts';
import { fillLookUpBuckets } from '../../src/subjects/applications/sql/partitions.ts';
import { goOnFrom, lastBatchNumber, partitionEnds } from './batch-numbers.ts';
import { shifted } from './shifted.ts';

const DAY_MS = 24 * 3_600_000;

/** Moves on to the next partition; the partitions before it are closed and in buckets. */
export async function closePartition(database: Database): Promise<void> {
  const last = await lastBatchNumber(database);
  const end = (await partitionEnds(database)).find((one) => one > last);
  await goOnFrom(database, end as number);
  await fillLookUpBuckets(database);
  await database.query('UPDATE closed_segments SET closed_ms = closed_ms - 60000');
  await fillLookUpBuckets(database);
}

/** Closed partitions become so many days older, by the clock and by the elapsed time. */
export async function growOlder(database: Database, days: number): Promise<void> {
  await database.query(
    `UPDATE batches SET created_at = ${shifted('created_at', `interval '-${days} days'`)}`,
  );
  await database.query(
    `UPDATE closed_segments SET closed_ms = closed_ms - $1, closed_at = ${shifted('closed_at', `interval '-${days} days'`)}`,
    [days * DAY_MS],
  );
}

/** Retention last looked at the partitions, and wrote them again, so many days earlier. */
export async function lookedAtBefore(database: Database, days: number): Promise<void> {
  await database.query('UPDATE closed_segments SET kept_ms = kept_ms - $1, written_ms = written_ms - $1', [
    days * DAY_MS,
  ]);
}
