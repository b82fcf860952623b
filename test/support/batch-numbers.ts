/** The sequence of batch numbers, which is on the coordinator where the database is spread over machines. */
import type { Database } from '../../src/ground/postgres/database.ts';

const SET = `
  SELECT CASE WHEN is_worker() THEN on_coordinator(format('SELECT setval(''batch_numbers'', %s)', $1::bigint))::bigint
    ELSE setval('batch_numbers'::text, $1) END`;
const LAST = 'SELECT n.last FROM numbers_taken() AS n';
const ENDS = `
  SELECT substring(c.relname FROM '[0-9]+$')::bigint AS ends_at FROM pg_inherits i
  JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'batches'::regclass ORDER BY 1`;

/** The next batch gets the number after this one. */
export async function goOnFrom(database: Database, number: number): Promise<void> {
  await database.query(SET, [number]);
}

export async function lastBatchNumber(database: Database): Promise<number> {
  return Number((await database.query<{ last: string }>(LAST)).rows[0]?.last);
}

/** Where the partitions of batches end, ascending. */
export async function partitionEnds(database: Database): Promise<number[]> {
  return (await database.query<{ ends_at: string }>(ENDS)).rows.map(({ ends_at }) => Number(ends_at));
}
