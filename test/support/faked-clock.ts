/** A database whose clock the test sets: the service's statements read the time by a row of a table. */
import { after } from 'node:test';
import pg from 'pg';
import type { TestDatabase } from './database.ts';

interface FakedClock {
  /** Sets the database's clock, in milliseconds since 1970. The clock stands still until the next call. */
  set(ms: number): Promise<void>;
}

/** A clock that goes on. */
export interface SteppedClock {
  /** Sets the clock this much ahead of the right time, in milliseconds; below 0: behind it. */
  set(client: Pick<pg.Client, 'query'>, aheadMs: number): Promise<void>;
}

/**
 * PostgreSQL looks for the functions of a statement along the session's search path; this schema stands before its
 * own, and after the one of the store, which stays the first.
 */
const fake = (value: string, time: (realTime: string) => string) => `
  CREATE SCHEMA faked;
  CREATE TABLE faked.clock AS SELECT ${value} AS at;
  CREATE FUNCTION faked.now() RETURNS timestamptz STABLE LANGUAGE sql AS
    'SELECT ${time('pg_catalog.now()')} FROM faked.clock';
  CREATE FUNCTION faked.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS
    'SELECT ${time('pg_catalog.clock_timestamp()')} FROM faked.clock';
  GRANT USAGE ON SCHEMA faked TO PUBLIC;
  GRANT SELECT ON faked.clock TO PUBLIC`;
const STANDING = fake('pg_catalog.now()', () => 'at');
const STEPPED = fake("interval '0'", (realTime) => `${realTime} + at`);
/** What reads the time, and how its text reads it by `faked`, which stands before PostgreSQL's own schema. */
const READS_TIME = '(now|clock_timestamp)\\(';
const anew = (text: string) => `regexp_replace(${text}, 'pg_catalog\\.${READS_TIME}', '\\1(', 'g')`;
/**
 * The default of a column and a parsed body of a function keep the functions that they found when they were made, and
 * a function with a search path of its own has no other. Tables that are made later like others get the new defaults.
 */
const USE = `DO $do$
DECLARE
  v_statement text;
BEGIN
  SET LOCAL citus.enable_ddl_propagation = 'off';
  SET LOCAL search_path = public, faked, pg_catalog;
  EXECUTE format('ALTER DATABASE %I SET search_path = public, faked, pg_catalog', current_database());
  FOR v_statement IN
    SELECT format('ALTER TABLE %s ALTER %I SET DEFAULT %s', d.adrelid::regclass, a.attname, ${anew('e.text')})
    FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum,
      pg_get_expr(d.adbin, d.adrelid) AS e(text)
    WHERE e.text ~ '${READS_TIME}'
  LOOP EXECUTE v_statement; END LOOP;
  FOR v_statement IN
    SELECT ${anew('pg_get_functiondef(p.oid)')} FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND (p.prosqlbody IS NOT NULL OR p.pronargdefaults > 0)
      AND concat(pg_get_function_arguments(p.oid), pg_get_function_sqlbody(p.oid)) ~ '${READS_TIME}'
  LOOP EXECUTE v_statement; END LOOP;
  FOR v_statement IN
    SELECT format('ALTER FUNCTION %s SET search_path TO public, faked, pg_catalog, pg_temp', p.oid::regprocedure)
    FROM pg_proc p, unnest(p.proconfig) AS s(setting) WHERE s.setting = 'search_path=public, pg_temp'
  LOOP EXECUTE v_statement; END LOOP;
END $do$`;
/** Open sessions keep the path that they began with. */
const END_SESSIONS = `
  SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

/** Gives a database a clock that goes on, and may be set. Its other sessions are ended. */
export async function stepClock(client: Pick<pg.Client, 'query'>): Promise<SteppedClock> {
  for (const text of [STEPPED, USE, END_SESSIONS]) await client.query(text);
  return {
    async set(now, aheadMs) {
      await now.query("UPDATE faked.clock SET at = $1::float8 * interval '1 millisecond'", [aheadMs]);
    },
  };
}

/** Call this at the top of a test file, or in a test. */
export async function fakeClock({ ownerUrl: databaseUrl }: TestDatabase): Promise<FakedClock> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  // The database may be dropped before the session ends.
  client.on('error', () => {});
  after(() => client.end());
  for (const text of [STANDING, USE, END_SESSIONS]) await client.query(text);
  return {
    async set(ms) {
      await client.query('UPDATE faked.clock SET at = to_timestamp($1::double precision / 1000)', [ms]);
    },
  };
}
