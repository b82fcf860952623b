/**
 * Reads the database's clock, which decides everything that depends on time (D39), and carries its times to the
 * microsecond. Runs one statement without a table; the rest is pure.
 */
import { onlyRow, type Session } from './database.ts';

const READ = 'SELECT clock_timestamp() AS now';

/** The time of the database's clock. */
export async function databaseTime(session: Session): Promise<Date> {
  return onlyRow((await session.query<{ now: Date }>(READ)).rows).now;
}

// The second part: times of the database to the microsecond, as texts since 1970. A `Date` has only milliseconds.

/** The SQL of a time as such a text; NULL stays NULL. */
export function micros(time: string): string {
  return `(extract(epoch FROM ${time}) * 1000000)::bigint::text`;
}

/** The SQL of the time from a parameter with such a text. A product with an interval of one microsecond is exact. */
export function timeOf(parameter: string): string {
  return `timestamptz 'epoch' + ${parameter}::float8 * interval '1 microsecond'`;
}

/** The time so many milliseconds later. */
export function later(time: string, ms: number): string {
  return String(BigInt(time) + BigInt(Math.round(ms * 1000)));
}
