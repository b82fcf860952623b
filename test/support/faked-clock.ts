/** A database whose clock the test sets: the service's statements read the time from a row of a table. */
import pg from 'pg';
import type { TestDatabase } from './database.ts';

export interface FakedClock {
  /** Sets the database's clock, in milliseconds since 1970. The clock stands still until the next call. */
  set(ms: number): Promise<void>;
}

/**
 * PostgreSQL looks for the functions of a statement along the session's search path; this schema stands before its
 * own.
 */
const FAKE = `
  CREATE SCHEMA faked;
  CREATE TABLE faked.clock (at timestamptz NOT NULL);
  INSERT INTO faked.clock VALUES (pg_catalog.now());
  CREATE FUNCTION faked.now() RETURNS timestamptz STABLE LANGUAGE sql AS 'SELECT at FROM faked.clock';
  CREATE FUNCTION faked.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS 'SELECT at FROM faked.clock';
  GRANT USAGE ON SCHEMA faked TO PUBLIC;
  GRANT SELECT ON faked.clock TO PUBLIC`;

export async function fakeClock({ ownerUrl: databaseUrl }: TestDatabase): Promise<FakedClock> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(FAKE);
    await client.query(`DO $$ BEGIN EXECUTE format(
      'ALTER DATABASE %I SET search_path = faked, pg_catalog, public', current_database()); END $$`);
    // Open sessions keep the path that they began with.
    await client.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`);
  } finally {
    await client.end();
  }
  return {
    async set(ms) {
      const setter = new pg.Client({ connectionString: databaseUrl });
      await setter.connect();
      await setter.query('UPDATE faked.clock SET at = to_timestamp($1::double precision / 1000)', [ms]);
      await setter.end();
    },
  };
}
