/** The database's clock, which decides everything that depends on time (D39). */
import type { Session } from './database.ts';
import { onlyRow } from './only-row.ts';

const READ = 'SELECT clock_timestamp() AS now';

/** The time of the database's clock. */
export async function databaseTime(session: Session): Promise<Date> {
  return onlyRow((await session.query<{ now: Date }>(READ)).rows).now;
}
