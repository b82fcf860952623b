/**
 * Opens the connection pool, and checks that its server takes writes and keeps what it acknowledges (README.md; D15,
 * D37). Touches the network and the files of TLS that `DATABASE_URL` names. Changes no rows.
 */
import { readFileSync, statSync } from 'node:fs';
import pg from 'pg';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/describe-error.ts';
import { isOpenToOthers, OPEN_TO_OTHERS } from '../base/private-file.ts';
import { clientClass, type ServiceClient } from './client.ts';
import { CONNECT_TIMEOUT_MS, type Database, QUERY_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from './database.ts';
import { Hosts } from './hosts.ts';
import { prepareSession } from './session.ts';
import { PassingSetupError, SetupError } from './setup-error.ts';

// The files of TLS that `DATABASE_URL` names.

const PARAMETERS = ['sslrootcert', 'sslcert', 'sslkey'];

/**
 * Throws a `SetupError` that names the parameter whose file cannot be read, and throws one too if the key's file is
 * open to others (PostgreSQL's own clients also refuse such a file). The driver reads the files at each new connection,
 * and a missing file there looks like a server that is not up yet.
 */
function refuseUnreadableFiles(databaseUrl: string): void {
  const parameters = new URLSearchParams(/\?([^#]*)/.exec(databaseUrl)?.[1]);
  for (const name of PARAMETERS) {
    const file = parameters.get(name);
    if (!file) continue;
    let isOpen: boolean;
    try {
      readFileSync(file);
      isOpen = name === 'sslkey' && isOpenToOthers(statSync(file));
    } catch (error) {
      throw new SetupError(
        `DATABASE_URL cannot be used: ${name} names a file that cannot be read (${errorCode(error)})`,
      );
    }
    if (isOpen) throw new SetupError(`DATABASE_URL cannot be used: the file of ${name} ${OPEN_TO_OTHERS}`);
  }
}

export interface DatabaseAddress {
  readonly connectionString?: string;
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
}

/** An idle transaction is ended after this time, so no lock outlives a stuck process for longer. */
const LIMITS = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, idleTransactionTimeoutMs: 10_000 };

/**
 * A pool of at most `max` connections. `onError` is called when an idle connection dies; a failing statement rejects by
 * itself. `kept`: idle connections stay open, so that rare work does not wait for a new one. `connectWithinMs` is for a
 * command for which a person waits; otherwise a connection takes 1.5 seconds at most.
 */
export function openDatabase(
  address: DatabaseAddress,
  options: {
    clock: Clock;
    max: number;
    onError: (error: Error) => void;
    kept?: true;
    connectWithinMs?: number;
  },
): Database {
  refuseOwnTimeout(address);
  const { connectionString } = address;
  if (connectionString !== undefined) refuseUnreadableFiles(connectionString);
  const hosts = connectionString === undefined ? null : new Hosts(connectionString, options.clock);
  const pool = new pg.Pool({
    ...address,
    max: options.max,
    ...(options.kept && { idleTimeoutMillis: 0 }),
    application_name: 'ventanilla',
    connectionTimeoutMillis: options.connectWithinMs ?? CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    Client: clientClass(hosts, options.clock),
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
 * Refuses a server that takes no writes, cannot keep what it acknowledges, or is too old for the SQL of the migrations.
 * Throws `SetupError`. Returns what the operator should know about a server that is accepted, or null.
 */
export async function checkServer(database: Database): Promise<string | null> {
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
    // A standby may be about to become the primary.
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
  return isCrashing(Number(server.version)) ? CRASHES : null;
}

/** Decision 0004: these versions read freed memory when they check a changed row of a partitioned table again. */
function isCrashing(version: number): boolean {
  return version >= 180_000 && version < 180_005;
}

const CRASHES =
  'the database is PostgreSQL 18 before 18.5, whose sessions can crash on partitioned tables: update it to 18.5, or use 17';
