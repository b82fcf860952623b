/**
 * Connects to the embedded server, and counts the processes that use it by an advisory lock on a session each
 * (README.md). Runs SQL over loopback; creates the database, writes no table.
 */
import pg from 'pg';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/describe-error.ts';
import { isPassingTrouble } from '../postgres/store-trouble.ts';

/** How to reach the server. */
export interface EmbeddedConnection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/**
 * Every process that uses the server holds this advisory lock, shared, on a session of its own. A process that can
 * take the lock exclusively is alone and may stop the server. The lock ends with the session, also if a process is
 * killed. The first number is 'VENT' in ASCII; the service's other advisory locks have another one.
 */
const IN_USE_LOCK = [0x56454e54, 1] as const;

const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 10_000;
const HANG_UP_TIMEOUT_MS = 1_000;

/** Throws the error of the server or the network. */
export async function login(connection: EmbeddedConnection, clock: Clock): Promise<pg.Client> {
  const client = new pg.Client({
    ...connection,
    ssl: false,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: 'ventanilla supervisor',
  });
  // Without a listener the end of the server would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await hangUp(client, clock);
    throw error;
  }
}

/** Ends a session, whatever it is doing, and waits at most a second for that. */
export async function hangUp(client: pg.Client, clock: Clock): Promise<void> {
  const ended = new AbortController();
  const enough = clock.sleep(HANG_UP_TIMEOUT_MS, { signal: ended.signal }).catch(() => {});
  await Promise.race([client.end().catch(() => {}), enough]);
  ended.abort();
}

/** Takes the shared lock that says that the server is in use. False: the server is about to be stopped. */
export function takeShared(client: pg.Client): Promise<boolean> {
  return queryBoolean(client, 'SELECT pg_try_advisory_lock_shared($1, $2) AS yes');
}

/**
 * Gives the shared lock back. True: no other process uses the server, and none can begin to while this session lasts.
 */
export async function takeOver(client: pg.Client): Promise<boolean> {
  // Let the shared lock go first: two processes that leave at the same time and keep theirs would both stay.
  await queryBoolean(client, 'SELECT pg_advisory_unlock_shared($1, $2) AS yes');
  return queryBoolean(client, 'SELECT pg_try_advisory_lock($1, $2) AS yes');
}

async function queryBoolean(client: pg.Client, sql: string): Promise<boolean> {
  const { rows } = await client.query<{ yes: boolean }>(sql, [...IN_USE_LOCK]);
  return rows[0]?.yes === true;
}

/** Creates the database unless it exists. Several processes may do so at once. */
export async function createDatabase(connection: EmbeddedConnection, clock: Clock): Promise<void> {
  const client = await login({ ...connection, database: 'postgres' }, clock);
  try {
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(connection.database)}`);
  } catch (error) {
    // Another process created it before, or at this moment.
    if (errorCode(error) !== '42P04' && errorCode(error) !== '23505') throw error;
  } finally {
    await hangUp(client, clock);
  }
}

/** Whether an error of `login` or of a query means no more than "not now". */
export function isPassing(error: unknown): boolean {
  const code = errorCode(error);
  // All errors of the network pass: the server is about to listen, or has ended. PostgreSQL's codes have five
  // characters.
  if (code === undefined || !/^[0-9A-Z]{5}$/.test(code)) return true;
  const isTemplateInUse = code === '55006';
  return isTemplateInUse || isPassingTrouble(error);
}
