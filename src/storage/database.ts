/** The connection pool: every session the service opens is bounded in time and durable. */
import pg from 'pg';

export type Database = pg.Pool;

export interface DatabaseAddress {
  readonly connectionString?: string;
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
}

/** Longest wait for a free or new connection, and longest run of a statement, in milliseconds (D37). */
export const CONNECT_TIMEOUT_MS = 1_500;
export const STATEMENT_TIMEOUT_MS = 3_000;
/** The client gives up a little after the server should have. */
export const QUERY_TIMEOUT_MS = 3_300;
/** Longest transaction idle time: no lock outlives a stuck process by more. */
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000;

/**
 * A pool of at most `max` connections. `onError` hears of idle connections that died; statements that fail
 * reject on their own.
 */
export function openDatabase(
  address: DatabaseAddress,
  options: { max: number; onError: (error: Error) => void },
): Database {
  const pool = new pg.Pool({
    ...address,
    max: options.max,
    application_name: 'ventanilla',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    // A server or role may default to off; what is acknowledged here is on disk.
    options: '-c synchronous_commit=on -c timezone=UTC',
  });
  pool.on('error', options.onError);
  // A connection that dies in the hands of whom it is lent to fails their statement; that is enough.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** A session that somebody holds. */
export type Session = Pick<Database, 'query'>;

/**
 * Runs `work` in one transaction of one session. Whatever throws undoes it before anybody hears of it, so that its
 * locks are in nobody's way; a session that does not answer is ended, which holds even where nobody knows how far
 * the transaction came.
 */
export async function inTransaction<T>(
  database: Database,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const client = await database.connect();
  let ended = false;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    ended = await client.query('ROLLBACK').then(
      () => false,
      () => true,
    );
    throw error;
  } finally {
    client.release(ended);
  }
}

/** A clear refusal for people: no stack is shown with it. */
export class SetupError extends Error {}

/** Refuses a server that cannot keep what it acknowledges, or that is too old for the migrations' SQL. */
export async function checkServer(database: Database): Promise<void> {
  const { rows } = await database.query<{ fsync: string; version: string }>(
    "SELECT current_setting('fsync') AS fsync, current_setting('server_version_num') AS version",
  );
  const server = rows[0];
  if (server?.fsync !== 'on') {
    throw new SetupError(
      'the database runs with fsync off and would lose what it acknowledged: turn fsync on',
    );
  }
  if (Number(server.version) < 150_000) {
    throw new SetupError(`the database is PostgreSQL ${server.version}: version 15 or newer is needed`);
  }
}

/** The SQLSTATE, or Node's code of a failed connection. */
export function errorCode(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}
