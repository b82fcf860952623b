/** The partitions of `batches`: made ahead of what is registered, and indexed once when nothing more comes into them. */
import pg from 'pg';
import { type Database, inTransaction } from './database.ts';

/** So many batches can come before the next turn of the upkeep, at more than any measured rate. */
const AHEAD = 32_768;

const MAKE = 'SELECT make_batch_partitions($1)';

/** Makes partitions ahead of the last batch. Any number of processes may do it at once. */
export async function makePartitions(database: Database): Promise<void> {
  await database.query(MAKE, [AHEAD]);
}

/** Building the index of a partition of a million applications takes seconds. */
const INDEX_TIMEOUT_MS = 5 * 60_000;

/** Those that no batch can come into any more and that have no index for look-ups, oldest first. */
const FIND_CLOSED = `
  SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'batches'::regclass
    AND substring(c.relname FROM '[0-9]+$')::bigint <= (SELECT last_value FROM batch_numbers)
    AND to_regclass(format('%I', c.relname || '_look_up')) IS NULL
  ORDER BY substring(c.relname FROM '[0-9]+$')::bigint`;

/** One process at a time builds; the others have it done for them. */
const TAKE_TURN = 'SELECT pg_try_advisory_xact_lock(8726, 3) AS mine';

/**
 * Builds the index by which closed partitions are searched for a phone or an ID number: sorted once, instead of a page
 * touched at random for each application. The names of those that got one. Registration, review and delivery go on
 * meanwhile; what would rewrite an envelope of the partition waits.
 */
export async function indexClosedPartitions(database: Database): Promise<string[]> {
  const built: string[] = [];
  const { rows } = await database.query<{ name: string }>(FIND_CLOSED);
  for (const { name } of rows) if (await buildIndex(database, name)) built.push(name);
  return built;
}

function buildIndex(database: Database, partition: string): Promise<boolean> {
  return inTransaction(database, async (session) => {
    const { rows } = await session.query<{ mine: boolean }>(TAKE_TURN);
    if (rows[0]?.mine !== true) return false;
    await session.query(`SET LOCAL statement_timeout = ${INDEX_TIMEOUT_MS}`);
    const name = pg.escapeIdentifier(`${partition}_look_up`);
    const table = pg.escapeIdentifier(partition);
    const text = `CREATE INDEX IF NOT EXISTS ${name} ON ${table} USING gin (phones, id_numbers)`;
    await session.query({ text, query_timeout: INDEX_TIMEOUT_MS } as pg.QueryConfig);
    return true;
  });
}
