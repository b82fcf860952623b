/**
 * The partitions of `batches`: made ahead of what is registered, put into look-up buckets when they are closed, and
 * deleted when they are old.
 */
import type pg from 'pg';
import { type Database, inTransaction } from './database.ts';

/** So many batches can come before the next turn of the upkeep, at more than any measured rate. */
const AHEAD = 32_768;

const MAKE = 'SELECT make_batch_partitions($1)';

/** Makes partitions ahead of the last batch. Any number of processes may do it at once. */
export async function makePartitions(database: Database): Promise<void> {
  await database.query(MAKE, [AHEAD]);
}

/** A partition of a million applications takes a few seconds. */
const TIMEOUT_MS = 5 * 60_000;
const FILL = 'SELECT fill_look_up_buckets() AS applications';

/**
 * Puts closed partitions into the buckets of `migrations/0010_look_up.sql`, one a transaction, until there is none left
 * to do or another process does it. Registration and review go on meanwhile; what would rewrite an envelope of the
 * partition waits.
 */
export async function fillLookUpBuckets(database: Database): Promise<void> {
  while ((await onPartition(database, FILL, [])) !== null);
}

const FORGET = 'SELECT forget_partition($1) AS applications';

/**
 * Deletes partitions that were closed `days` ago and hold nothing open (`migrations/0011_retention.sql`), one a
 * transaction. How many applications they held.
 */
export async function forgetPartitions(database: Database, days: number): Promise<number> {
  let forgotten = 0;
  for (;;) {
    const applications = await onPartition(database, FORGET, [days]);
    if (applications === null) return forgotten;
    forgotten += applications;
  }
}

/** Runs a statement on a whole partition. Its number of applications; null where none was left to do. */
function onPartition(database: Database, text: string, values: unknown[]): Promise<number | null> {
  return inTransaction(database, async (session) => {
    await session.query(`SET LOCAL statement_timeout = ${TIMEOUT_MS}`);
    const query = { text, values, query_timeout: TIMEOUT_MS } as pg.QueryConfig;
    const { rows } = await session.query<{ applications: string | null }>(query);
    const applications = rows[0]?.applications ?? null;
    return applications === null ? null : Number(applications);
  });
}
