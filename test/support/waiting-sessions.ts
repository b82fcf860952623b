/** Which sessions of the database wait for a lock, also where it is spread over machines. */
import type { Database } from '../../src/ground/postgres/database.ts';

const IS_SPREAD = "SELECT to_regclass('citus_lock_waits') IS NOT NULL AS yes";
const HERE =
  "SELECT pid, query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
/** A session's number in the cluster is its machine's number, with its own number as the last ten digits. */
const ANYWHERE = `
  SELECT (waiting_gpid % 10000000000)::integer AS pid, blocked_statement AS query FROM citus_lock_waits UNION ${HERE}`;

/** The sessions on the server of `database` that wait for a lock on any machine, with their statements. */
export async function waitingSessions(database: Database): Promise<{ pid: number; query: string }[]> {
  const [isSpread] = (await database.query<{ yes: boolean }>(IS_SPREAD)).rows;
  return (await database.query(isSpread?.yes ? ANYWHERE : HERE)).rows;
}
