/**
 * Opens the embedded server, holds it while the process uses it, and starts it again if it ends unexpectedly
 * (README.md). Touches processes, files and the clock; the last process that uses the server stops it.
 */
import { resolve } from 'node:path';
import type pg from 'pg';
import type { Clock } from '../base/clock.ts';
import { type Cluster, ensureCluster, type ServedCluster } from './cluster.ts';
import { DiskFullError, EmbeddedError } from './errors.ts';
import { connectionTo, type HeldServer, joinServer, timeoutError } from './join.ts';
import { findPostmaster, isServer } from './postmaster.ts';
import { type EmbeddedConnection, hangUp, login, takeOver } from './session.ts';
import { POLL_MS } from './start.ts';

/** The pauses before each try, in milliseconds; there is no try after the last one. */
const PAUSES_MS = [0, 500, 1_000, 2_000, 5_000, 10_000];
/**
 * A server that was held this long works, so the count of tries begins at 0 again. A server that ends sooner counts as
 * a try.
 */
const STABLE_MS = 60_000;
/**
 * The pause before each try while the disk is full. These tries are not counted, because no restart of the service
 * would help.
 */
const FULL_PAUSE_MS = 2_000;

/** Called about the server after it was opened. */
export interface ServerListener {
  /** A sentence that operators should read. */
  notice(text: string): void;
  /** The server runs again, perhaps on another port. */
  moved(connection: EmbeddedConnection): void;
  /** The server could not be started again, and nothing more is tried. */
  lost(error: Error): void;
}

interface Keeper {
  /**
   * Stops keeping the server, and stops a start under way. Resolves to the session that holds the server, if there is
   * one.
   */
  letGo(): Promise<pg.Client | undefined>;
}

/**
 * Keeps the server running. If several processes lost the same server, one of them restarts it and the others join it;
 * PostgreSQL's own lock file decides which one.
 */
function keepServer(cluster: ServedCluster, first: HeldServer, listener: ServerListener): Keeper {
  const { clock } = cluster;
  const leaving = new AbortController();
  const { signal } = leaving;
  let client: pg.Client | undefined;
  let tries = 0;
  let restoring = Promise.resolve();
  const hold = (held: HeldServer) => {
    const sinceMs = clock.monotonicMs();
    client = held.client;
    client.once('end', () => {
      client = undefined;
      if (signal.aborted) return;
      if (clock.monotonicMs() - sinceMs > STABLE_MS) tries = 0;
      restoring = restore(held.connection.port);
    });
  };
  const restore = async (port: number) => {
    listener.notice('PostgreSQL or its connections ended: starting it again if necessary');
    let failure: Error = new EmbeddedError(`PostgreSQL ended soon after each start: see ${cluster.logFile}`);
    for (let isFull = false; !signal.aborted; ) {
      if (!isFull && tries === PAUSES_MS.length) return listener.lost(failure);
      try {
        await clock.sleep(isFull ? FULL_PAUSE_MS : PAUSES_MS[tries]!, { signal });
        const held = await joinServer(cluster, { signal, port });
        if (signal.aborted) return await hangUp(held.client, clock);
        if (!isFull) tries += 1;
        hold(held);
        listener.moved(held.connection);
        return listener.notice('PostgreSQL runs again');
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof DiskFullError) {
          if (!isFull) listener.notice(`${error.message}; trying again until there is room`);
          isFull = true;
          continue;
        }
        isFull = false;
        tries += 1;
        failure = error as Error;
      }
    }
  };
  hold(first);
  return {
    letGo: async () => {
      leaving.abort();
      await restoring;
      return client;
    },
  };
}

export { EmbeddedError } from './errors.ts';
export type { EmbeddedConnection } from './session.ts';

/** How long a start waits for room on a full disk, as each other step of a start waits (D37). */
const ROOM_WITHIN_MS = 60_000;
const CLOSE_TIMEOUT_MS = 30_000;
/** For a server that is still starting when the process is told to stop: the process has 8 s for its whole stop. */
const ABANDON_TIMEOUT_MS = 5_000;

export interface EmbeddedServer {
  /** The service's role, which reads and writes rows. The address at the opening; `listener.moved` gets later ones. */
  readonly service: EmbeddedConnection;
  /** The superuser, who owns the cluster and the tables. The address at the opening. */
  readonly superuser: EmbeddedConnection;
  /**
   * Stops using the server; stops it (fast shutdown) if no other process uses it, and waits until it has ended. End
   * your own connections first. May be called twice. Throws `EmbeddedError` if the server has not ended within 30 s; it
   * goes on ending.
   */
  close(): Promise<void>;
}

/** No listener: a process that uses the server for a moment notices its end by a failing statement. */
const NO_LISTENER: ServerListener = { notice() {}, moved() {}, lost() {} };

/**
 * Opens a PostgreSQL of the service's own, with its data, password and log under `dataDir` (made with mode 0700 if
 * absent). Uses a server that already runs there, whether another process started it or a killed one left it; otherwise
 * starts one, which recovers everything committed. The server outlives the process unless `close` is called. If the
 * server ends meanwhile, it is restarted, a few times; `listener` hears of it and of the new address. Throws
 * `EmbeddedError` with a message for operators, within two minutes after the data are set up: a full disk gets a minute
 * to have room again.
 */
export async function openEmbedded(options: {
  dataDir: string;
  clock: Clock;
  signal?: AbortSignal;
  listener?: ServerListener;
}): Promise<EmbeddedServer> {
  const { clock, signal, listener = NO_LISTENER } = options;
  const cluster = await ensureCluster(resolve(options.dataDir), clock);
  const held = await joinWithRoom(cluster, listener, signal).catch(async (error: unknown) => {
    if (signal?.aborted) await abandon(cluster, listener);
    throw error;
  });
  const keeper = keepServer(cluster, held, listener);
  let closing: Promise<void> | undefined;
  return {
    service: held.connection,
    superuser: connectionTo(cluster, held.connection.port),
    close: () => {
      closing ??= leaveServer(cluster, keeper.letGo());
      return closing;
    },
  };
}

/** Joins the server. Tries again for a minute while the disk is full. */
async function joinWithRoom(
  cluster: ServedCluster,
  { notice }: ServerListener,
  signal: AbortSignal | undefined,
): Promise<HeldServer> {
  const { clock } = cluster;
  const giveUpAt = clock.monotonicMs() + ROOM_WITHIN_MS;
  for (let isTold = false; ; isTold = true) {
    try {
      return await joinServer(cluster, { signal });
    } catch (error) {
      if (!(error instanceof DiskFullError) || clock.monotonicMs() >= giveUpAt) throw error;
      if (!isTold) notice(`${error.message}; trying again until there is room`);
      await clock.sleep(FULL_PAUSE_MS, { signal });
    }
  }
}

/** Stops a server that was started and that no other process uses; a server that recovers may stay. */
async function abandon(cluster: Cluster, listener: ServerListener): Promise<void> {
  try {
    await leaveServer(cluster, Promise.resolve(undefined), ABANDON_TIMEOUT_MS);
  } catch {
    listener.notice(
      'PostgreSQL still starts, recovers or stops, and goes on by itself: the next start waits for it',
    );
  }
}

async function leaveServer(
  cluster: Cluster,
  letGo: Promise<pg.Client | undefined>,
  withinMs = CLOSE_TIMEOUT_MS,
): Promise<void> {
  const { clock } = cluster;
  const deadline = clock.monotonicMs() + withinMs;
  let client = await letGo;
  let lastError: unknown;
  try {
    while (clock.monotonicMs() < deadline) {
      const found = await findPostmaster(cluster.directory, clock);
      if (found === undefined) return;
      if (client !== undefined || found.ready) {
        try {
          client ??= await login(connectionTo(cluster, found.port), clock);
          if (!(await takeOver(client))) return;
          return await stopPostmaster(cluster, found.pid, deadline);
        } catch (error) {
          if (error instanceof EmbeddedError) throw error;
          lastError = error;
          if (client !== undefined) await hangUp(client, clock);
          client = undefined;
        }
      }
      await clock.sleep(POLL_MS);
    }
    throw await timeoutError(cluster, 'could not be asked to stop within 30 s', lastError);
  } finally {
    if (client !== undefined) await hangUp(client, clock);
  }
}

/**
 * Call this with the exclusive lock held by a session that the server itself ends: no process can join meanwhile.
 * `deadline` is on `Clock.monotonicMs`.
 */
export async function stopPostmaster(cluster: Cluster, pid: number, deadline: number): Promise<void> {
  const { clock } = cluster;
  process.kill(pid, 'SIGINT');
  while (await isServer(pid, cluster.directory)) {
    if (clock.monotonicMs() > deadline) throw await timeoutError(cluster, 'has not ended after 30 s');
    await clock.sleep(POLL_MS);
  }
}
