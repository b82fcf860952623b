/** The partitions of `batches`: made ahead of what is registered, and put into look-up buckets when they are closed. */
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
const FILL_TIMEOUT_MS = 5 * 60_000;
const FILL = 'SELECT fill_look_up_buckets() AS applications';

/**
 * Puts closed partitions into the buckets of `migrations/0010_look_up.sql`, one a transaction, until there is none left
 * to do or another process does it. Registration and review go on meanwhile; what would rewrite an envelope of the
 * partition waits.
 */
export async function fillLookUpBuckets(database: Database): Promise<void> {
  while (await fillOne(database));
}

function fillOne(database: Database): Promise<boolean> {
  return inTransaction(database, async (session) => {
    await session.query(`SET LOCAL statement_timeout = ${FILL_TIMEOUT_MS}`);
    const query = { text: FILL, query_timeout: FILL_TIMEOUT_MS } as pg.QueryConfig;
    const { rows } = await session.query<{ applications: string | null }>(query);
    return rows[0]?.applications != null;
  });
}
