import pg from 'pg';
import { isPassingTrouble } from '../../domain/store-trouble.ts';
import { errorCode } from '../error-code.ts';

/** How to reach the server. */
export interface EmbeddedConnection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/**
 * Every process that uses the server holds this advisory lock, shared, on a session of its own; who can take it
 * exclusively is alone and may stop the server. It goes with the session, so also when a process is killed.
 * The first number is 'VENT' in ASCII; other advisory locks of the service take another one.
 */
const IN_USE_LOCK = [0x56454e54, 1] as const;

const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 10_000;
const HANG_UP_TIMEOUT_MS = 1_000;

/** @throws the error of the server or the network */
export async function login(connection: EmbeddedConnection): Promise<pg.Client> {
  const client = new pg.Client({
    ...connection,
    ssl: false,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: 'ventanilla supervisor',
  });
  // Without a listener the end of the server would be the end of the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await hangUp(client);
    throw error;
  }
}

/** Ends a session, whatever state it is in, and waits at most a second for it. */
export async function hangUp(client: pg.Client): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, HANG_UP_TIMEOUT_MS);
  });
  await Promise.race([client.end().catch(() => {}), enough]);
  clearTimeout(timer);
}

/** Says "in use". False: the server is about to be stopped. */
export function takeShared(client: pg.Client): Promise<boolean> {
  return ask(client, 'SELECT pg_try_advisory_lock_shared($1, $2) AS yes');
}

/** Takes back "in use"; true: nobody else uses the server and, while this session lasts, nobody new will. */
export async function takeOver(client: pg.Client): Promise<boolean> {
  // First let go: two processes that leave at the same time and each keep theirs would both stay.
  await ask(client, 'SELECT pg_advisory_unlock_shared($1, $2) AS yes');
  return ask(client, 'SELECT pg_try_advisory_lock($1, $2) AS yes');
}

async function ask(client: pg.Client, sql: string): Promise<boolean> {
  const { rows } = await client.query<{ yes: boolean }>(sql, [...IN_USE_LOCK]);
  return rows[0]?.yes === true;
}

/** Creates the database unless it is there. Several processes may do so at once. */
export async function createDatabase(connection: EmbeddedConnection): Promise<void> {
  const client = await login({ ...connection, database: 'postgres' });
  try {
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(connection.database)}`);
  } catch (error) {
    // Another process created it before, or at this very moment.
    if (errorCode(error) !== '42P04' && errorCode(error) !== '23505') throw error;
  } finally {
    await hangUp(client);
  }
}

/** Whether an error of `login` or of a query says no more than "not now". */
export function isPassing(error: unknown): boolean {
  const code = errorCode(error);
  // The network's errors all pass: the server is about to listen, or has ended. PostgreSQL's codes have five characters.
  if (code === undefined || !/^[0-9A-Z]{5}$/.test(code)) return true;
  const isTemplateInUse = code === '55006';
  return isTemplateInUse || isPassingTrouble(error);
}
