/** The database's clock, which decides everything that depends on time (D39). */
import type { Database } from './database.ts';
import { onlyRow } from './only-row.ts';

const READ = 'SELECT clock_timestamp() AS now';

/** The time of the database's clock. */
export async function databaseTime(database: Database): Promise<Date> {
  return onlyRow((await database.query<{ now: Date }>(READ)).rows).now;
}
