/** The connection pool: every session of the service is bounded in time, and its commits are durable. */
import pg from 'pg';
import { errorCode } from '../base/error-code.ts';
import { refuseUnreadableFiles } from './certificate-files.ts';
import { clientClass, type ServiceClient } from './client.ts';
import { CONNECT_TIMEOUT_MS, Hosts } from './hosts.ts';
import { prepareSession } from './session.ts';
import { PassingSetupError, SetupError } from './setup-error.ts';

export { CONNECT_TIMEOUT_MS, SetupError };

export type Database = pg.Pool;

export interface DatabaseAddress {
  readonly connectionString?: string;
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
}

/** Longest run of a statement, in milliseconds (D37). */
const STATEMENT_TIMEOUT_MS = 3_000;
/** The client gives up a little later than the server does. */
export const QUERY_TIMEOUT_MS = 3_300;
/** An idle transaction is ended after this time, so no lock outlives a stuck process for longer. */
const LIMITS = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, idleTransactionTimeoutMs: 10_000 };

/**
 * A pool of at most `max` connections. `onError` is called when an idle connection dies; a failing statement rejects
 * by itself. `kept`: idle connections stay open, so that seldom work does not wait for a new one.
 */
export function openDatabase(
  address: DatabaseAddress,
  options: { max: number; onError: (error: Error) => void; kept?: true },
): Database {
  refuseOwnTimeout(address);
  const { connectionString } = address;
  if (connectionString !== undefined) refuseUnreadableFiles(connectionString);
  const hosts = connectionString === undefined ? null : new Hosts(connectionString);
  const pool = new pg.Pool({
    ...address,
    max: options.max,
    ...(options.kept && { idleTimeoutMillis: 0 }),
    application_name: 'ventanilla',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    Client: clientClass(hosts),
    onConnect: async (client) => {
      const own = client as ServiceClient;
      own.accept(await prepareSession(own, LIMITS, own.timeLeftMs()));
    },
  });
  pool.on('error', options.onError);
  return pool;
}

/** The driver takes the timeout from the URL before its own options. */
function refuseOwnTimeout({ connectionString = '' }: DatabaseAddress): void {
  if (/[?&]query_timeout=/.test(connectionString)) {
    throw new SetupError('DATABASE_URL must not set query_timeout: how long a statement may take is fixed');
  }
}

/** A transaction, or a pool that runs each statement in one of its own: for a statement that is right in both. */
export type Session = Pick<Database, 'query'>;

declare const TRANSACTION: unique symbol;

/**
 * A session in a transaction. Only `inTransaction` makes one, so that a statement which locks rows for its caller, or
 * must commit together with others, cannot run alone.
 */
export type Transaction = Session & { readonly [TRANSACTION]: true };

/**
 * Runs `work` in one transaction of one session. If `work` throws, the transaction is undone before this rejects, so
 * that its locks are in no one's way. A session that does not answer is ended, which works even if it is unknown how
 * far the transaction came.
 */
export async function inTransaction<T>(
  database: Database,
  work: (session: Transaction) => Promise<T>,
): Promise<T> {
  const client = await database.connect();
  let ended = false;
  try {
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    const result = await work(client as unknown as Transaction);
    const { command } = await client.query('COMMIT');
    // PostgreSQL gives this answer to the commit of a transaction in which a statement failed.
    if (command === 'ROLLBACK') throw new Error('the transaction had failed and was rolled back');
    return result;
  } catch (error) {
    ended = await client.query('ROLLBACK').then(
      () => isReadOnly(error),
      () => true,
    );
    throw error;
  } finally {
    client.release(ended);
  }
}

/** Longest wait for the answer that a session goes on, in milliseconds. */
const GOES_ON_WITHIN_MS = 1_000;
/** Classes of SQLSTATEs that end a session, or that a pooler makes up for a session that ended. */
const ENDS_SESSION = /^(08|57P)/;

/**
 * Whether the server has undone a failed statement that was no part of a transaction: it sent the error, and the
 * session goes on. An error that ends the session may come after the commit. The server's word for the severity would tell
 * the two apart in English alone (`lc_messages`). The code does not tell them apart: a full disk is an error of one
 * statement, or ends the server during a commit.
 */
export async function isUndone(client: pg.ClientBase, error: unknown): Promise<boolean> {
  if (!(error instanceof pg.DatabaseError) || ENDS_SESSION.test(error.code ?? '')) return false;
  const probe = { text: 'SELECT 1', query_timeout: GOES_ON_WITHIN_MS };
  return client.query(probe).then(
    () => true,
    () => false,
  );
}

interface ServerFacts {
  readonly fsync: string;
  readonly version: string;
  readonly standby: boolean;
  readonly read_only: boolean;
}

const FACTS = `
  SELECT current_setting('fsync') AS fsync, current_setting('server_version_num') AS version,
    pg_is_in_recovery() AS standby, current_setting('default_transaction_read_only') = 'on' AS read_only`;

/**
 * Refuses a server that takes no writes, cannot keep what it acknowledges, or is too old for the SQL of the
 * migrations. Throws `SetupError`.
 */
export async function checkServer(database: Database): Promise<void> {
  const { rows } = await database.query<ServerFacts>(FACTS);
  const server = rows[0];
  if (server?.fsync !== 'on') {
    throw new SetupError(
      'the database runs with fsync off and would lose what it acknowledged: turn fsync on',
    );
  }
  if (Number(server.version) < 150_000) {
    throw new SetupError(`the database is PostgreSQL ${server.version}: version 15 or newer is needed`);
  }
  if (server.standby) {
    // It may be about to become the primary.
    throw new PassingSetupError(
      'DATABASE_URL leads to a standby, which takes no writes: name the primary, or all servers with ' +
        'target_session_attrs=read-write',
    );
  }
  if (server.read_only) {
    throw new SetupError(
      'the database takes no writes: turn default_transaction_read_only off for the role and the database',
    );
  }
}

/**
 * True for a write in a read-only session, which has to be ended: it may stay read-only after its server takes writes
 * again.
 */
export function isReadOnly(error: unknown): boolean {
  return errorCode(error) === '25006';
}
