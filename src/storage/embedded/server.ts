import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type Cluster, ensureCluster, USER } from './cluster.ts';
import { codeOf, EmbeddedError } from './errors.ts';
import { findPostmaster, isServer } from './postmaster.ts';
import {
  createDatabase,
  type EmbeddedConnection,
  hangUp,
  isPassing,
  login,
  takeOver,
  takeShared,
} from './session.ts';
import { logTail, POLL_MS, startPostmaster } from './start.ts';

export { EmbeddedError } from './errors.ts';
export type { EmbeddedConnection } from './session.ts';

const OPEN_TIMEOUT_MS = 60_000;
const CLOSE_TIMEOUT_MS = 30_000;
const HOLD_AGAIN_MS = 1_000;

export interface EmbeddedServer {
  readonly connection: EmbeddedConnection;
  /**
   * Lets go; stops the server (fast shutdown) when no other process uses it, and waits until it has ended. End
   * your own connections first. May be called twice.
   * @throws EmbeddedError when the server has not ended within 30 s; it goes on ending
   */
  close(): Promise<void>;
}

interface Held {
  readonly connection: EmbeddedConnection;
  readonly client: pg.Client;
}

/**
 * A PostgreSQL of the service's own, with its data, password and log under `dataDir` (created with mode 0700 when
 * absent). A server that already runs there, of another process or left behind by one that was killed, is used;
 * otherwise one is started, and recovers what was committed. The server outlives the process unless `close` is
 * called, and is not started again when it ends meanwhile.
 * @throws EmbeddedError with a message for whoever runs the service; within 60 s once the data are set up
 */
export async function openEmbedded(options: {
  dataDir: string;
  signal?: AbortSignal;
}): Promise<EmbeddedServer> {
  const { signal } = options;
  const cluster = await ensureCluster(resolve(options.dataDir));
  const held = await join(cluster, signal).catch(async (error: unknown) => {
    // A server that was started and that nobody else uses would stay behind.
    if (signal?.aborted) await leave(cluster, undefined);
    throw error;
  });
  const keeper = keepHolding(held);
  let closing: Promise<void> | undefined;
  return {
    connection: held.connection,
    close: () => {
      closing ??= leave(cluster, keeper.letGo());
      return closing;
    },
  };
}

/** Finds or starts the server, and holds it: from then on no other process stops it. */
async function join(cluster: Cluster, signal: AbortSignal | undefined): Promise<Held> {
  const deadline = Date.now() + OPEN_TIMEOUT_MS;
  let lastError: unknown;
  while (Date.now() < deadline) {
    signal?.throwIfAborted();
    const found = await findPostmaster(cluster.directory);
    if (found === undefined) {
      await startPostmaster(cluster, deadline);
    } else if (found.ready) {
      const connection = connectionTo(cluster, found.port);
      try {
        const client = await hold(connection);
        if (client !== undefined) return { connection, client };
      } catch (error) {
        if (codeOf(error) === '28P01') {
          throw new EmbeddedError(
            `the PostgreSQL that runs in ${cluster.directory} does not take the password in ${cluster.passwordFile}`,
          );
        }
        if (codeOf(error) === '3D000') await createDatabase(connection).catch(throwUnlessPassing);
        else throwUnlessPassing(error);
        lastError = error;
      }
    }
    await sleep(POLL_MS);
  }
  throw await late(
    cluster,
    'was not ready after 60 s (it may still be recovering: start again later)',
    lastError,
  );
}

function connectionTo(cluster: Cluster, port: number): EmbeddedConnection {
  return { host: '127.0.0.1', port, user: USER, password: cluster.password, database: USER };
}

async function hold(connection: EmbeddedConnection): Promise<pg.Client | undefined> {
  const client = await login(connection);
  let isHeld = false;
  try {
    isHeld = await takeShared(client);
  } finally {
    if (!isHeld) await hangUp(client);
  }
  return isHeld ? client : undefined;
}

function throwUnlessPassing(error: unknown): void {
  if (!isPassing(error)) throw error;
}

/** Holds again when the session dies with a crash of the server, or another process could stop it in use. */
function keepHolding(held: Held): { letGo(): pg.Client | undefined } {
  let client: pg.Client | undefined;
  let isLetGo = false;
  const keep = (fresh: pg.Client) => {
    client = fresh;
    fresh.once('end', () => {
      client = undefined;
      again();
    });
  };
  const again = () => {
    if (isLetGo) return;
    setTimeout(async () => {
      if (isLetGo) return;
      const fresh = await hold(held.connection).catch(() => undefined);
      if (fresh === undefined) again();
      else if (isLetGo) await hangUp(fresh);
      else keep(fresh);
    }, HOLD_AGAIN_MS).unref();
  };
  keep(held.client);
  return {
    letGo: () => {
      isLetGo = true;
      return client;
    },
  };
}

async function leave(cluster: Cluster, held: pg.Client | undefined): Promise<void> {
  const deadline = Date.now() + CLOSE_TIMEOUT_MS;
  let client = held;
  let lastError: unknown;
  try {
    while (Date.now() < deadline) {
      const found = await findPostmaster(cluster.directory);
      if (found === undefined) return;
      try {
        client ??= await login(connectionTo(cluster, found.port));
        if (!(await takeOver(client))) return;
        return await stop(cluster, found.pid, deadline);
      } catch (error) {
        if (error instanceof EmbeddedError) throw error;
        lastError = error;
        if (client !== undefined) await hangUp(client);
        client = undefined;
      }
      await sleep(POLL_MS);
    }
    throw await late(cluster, 'could not be asked to stop within 30 s', lastError);
  } finally {
    if (client !== undefined) await hangUp(client);
  }
}

/** With the exclusive lock held by a session that the server itself ends: nobody can come in meanwhile. */
async function stop(cluster: Cluster, pid: number, deadline: number): Promise<void> {
  process.kill(pid, 'SIGINT');
  while (await isServer(pid, cluster.directory)) {
    if (Date.now() > deadline) throw await late(cluster, 'has not ended after 30 s');
    await sleep(POLL_MS);
  }
}

async function late(cluster: Cluster, what: string, cause?: unknown): Promise<EmbeddedError> {
  const line = (await logTail(cluster.logFile)).at(-1);
  const last = line ? `; its last line: ${line}` : '';
  return new EmbeddedError(`PostgreSQL in ${cluster.directory} ${what}; see ${cluster.logFile}${last}`, {
    cause,
  });
}
