/**
 * Finds the server of a cluster or starts it, makes the service's role in it, and holds it by a lock (README.md).
 * Connects over loopback; the role is made with SQL of the superuser (docs/roles.md, "The embedded store").
 */
import pg from 'pg';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/describe-error.ts';
import { type Cluster, type ServedCluster, USER } from './cluster.ts';
import { EmbeddedError } from './errors.ts';
import { findPostmaster } from './postmaster.ts';
import { createDatabase, type EmbeddedConnection, hangUp, isPassing, login, takeShared } from './session.ts';
import { logTail, POLL_MS, type StartOptions, startPostmaster } from './start.ts';

// The role that the service connects as. It is made if the cluster has none, also in a cluster of an earlier version.

/** Not the superuser, who owns the cluster and the tables. */
export const SERVICE_ROLE = 'ventanilla_service';

/** Two processes that start at once take turns. */
const LOCK = [0x56454e54, 4] as const;
const IS_THERE = 'SELECT FROM pg_roles WHERE rolname = $1';

/**
 * Makes the role with this password, or changes its password to this one, because a restored cluster has another one.
 * `superuser` owns the cluster. Any number of processes may do so at once. Throws the error of the server or the
 * network.
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

const JOIN_TIMEOUT_MS = 60_000;
/** PostgreSQL's code for a role that is not there, and for a wrong password. */
const WRONG_LOGIN = '28P01';

/** A server that no other process stops while the session lasts. */
export interface HeldServer {
  /** The service's role. */
  readonly connection: EmbeddedConnection;
  /** A session of the service's role. */
  readonly client: pg.Client;
}

/**
 * Finds the server or starts one, on `port` if that is free, and holds it: from then on no other process stops it.
 * Throws `EmbeddedError` if the server does not start, or is not ready within 60 s, and the signal's reason if
 * `signal` aborts.
 */
export async function joinServer(cluster: ServedCluster, options: StartOptions): Promise<HeldServer> {
  const { clock } = cluster;
  const deadline = clock.monotonicMs() + JOIN_TIMEOUT_MS;
  let lastError: unknown;
  while (clock.monotonicMs() < deadline) {
    options.signal?.throwIfAborted();
    const found = await findPostmaster(cluster.directory, clock);
    if (found === undefined) {
      await startPostmaster(cluster, deadline, options);
    } else if (found.ready) {
      const superuser = connectionTo(cluster, found.port);
      const connection = { ...superuser, user: SERVICE_ROLE, password: cluster.servicePassword };
      try {
        const client = await holdServer(connection, superuser, clock);
        if (client !== undefined) return { connection, client };
      } catch (error) {
        if (errorCode(error) === WRONG_LOGIN) {
          throw new EmbeddedError(
            `the PostgreSQL that runs in ${cluster.directory} does not take the password in ${cluster.passwordFile}`,
          );
        }
        if (errorCode(error) === '3D000') await createDatabase(superuser, clock).catch(throwUnlessPassing);
        else throwUnlessPassing(error);
        lastError = error;
      }
    }
    await clock.sleep(POLL_MS);
  }
  throw await timeoutError(
    cluster,
    'was not ready after 60 s (it may still be recovering: start again later)',
    lastError,
  );
}

/** The connection of the superuser. */
export function connectionTo(cluster: Cluster, port: number): EmbeddedConnection {
  return { host: '127.0.0.1', port, user: USER, password: cluster.password, database: USER };
}

async function holdServer(
  service: EmbeddedConnection,
  superuser: EmbeddedConnection,
  clock: Clock,
): Promise<pg.Client | undefined> {
  const client = await login(service, clock).catch(async (error: unknown) => {
    if (errorCode(error) !== WRONG_LOGIN) throw error;
    await makeServiceRole(superuser, service.password, clock);
    return login(service, clock);
  });
  let isHeld = false;
  try {
    isHeld = await takeShared(client);
  } finally {
    if (!isHeld) await hangUp(client, clock);
  }
  return isHeld ? client : undefined;
}

function throwUnlessPassing(error: unknown): void {
  if (!isPassing(error)) throw error;
}

/** The error for a server that did not do something in time, with the last line of its log. */
export async function timeoutError(cluster: Cluster, what: string, cause?: unknown): Promise<EmbeddedError> {
  const line = (await logTail(cluster.logFile)).at(-1);
  const last = line ? `; its last line: ${line}` : '';
  return new EmbeddedError(`PostgreSQL in ${cluster.directory} ${what}; see ${cluster.logFile}${last}`, {
    cause,
  });
}
