/** The role that the service connects as, made where the cluster has none: also in a cluster of an earlier version. */
import pg from 'pg';
import type { Clock } from '../base/clock.ts';
import { type EmbeddedConnection, hangUp, login } from './session.ts';

/** Not the superuser, who has the cluster and the tables. */
export const SERVICE_ROLE = 'ventanilla_service';

/** Two processes that start at once take turns. */
const LOCK = [0x56454e54, 4] as const;
const IS_THERE = 'SELECT FROM pg_roles WHERE rolname = $1';

/**
 * Makes the role with this password, or gives the role this password: a restored cluster has another one. `superuser`
 * has the cluster. Any number of processes may do so at once. Throws the error of the server or the network.
 */
export async function makeServiceRole(
  superuser: EmbeddedConnection,
  password: string,
  clock: Clock,
): Promise<void> {
  // The cluster may have no database of the service yet.
  const client = await login({ ...superuser, database: 'postgres' }, clock);
  try {
    await client.query('SELECT pg_advisory_lock($1, $2)', [...LOCK]);
    const { rowCount } = await client.query(IS_THERE, [SERVICE_ROLE]);
    const verb = rowCount === 0 ? 'CREATE' : 'ALTER';
    const rights = 'LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';
    await client.query(`${verb} ROLE ${SERVICE_ROLE} ${rights} PASSWORD ${pg.escapeLiteral(password)}`);
  } finally {
    await hangUp(client, clock);
  }
}
