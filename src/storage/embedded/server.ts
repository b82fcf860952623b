import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type Cluster, ensureCluster } from './cluster.ts';
import { EmbeddedError } from './errors.ts';
import { connectionTo, join, late } from './join.ts';
import { keep, type Watch } from './keeper.ts';
import { findPostmaster, isServer } from './postmaster.ts';
import { type EmbeddedConnection, hangUp, login, takeOver } from './session.ts';
import { POLL_MS } from './start.ts';

export { EmbeddedError } from './errors.ts';
export type { Watch } from './keeper.ts';
export type { EmbeddedConnection } from './session.ts';

const CLOSE_TIMEOUT_MS = 30_000;
/** For a server whose start was not waited for: a process that is told to stop has 8 s. */
const ABANDON_TIMEOUT_MS = 5_000;

export interface EmbeddedServer {
  /** As it was opened; `watch` hears where it moved since. */
  readonly connection: EmbeddedConnection;
  /**
   * Lets go; stops the server (fast shutdown) when no other process uses it, and waits until it has ended. End
   * your own connections first. May be called twice.
   * @throws EmbeddedError when the server has not ended within 30 s; it goes on ending
   */
  close(): Promise<void>;
}

/** Nobody listens: whoever uses the server for a moment hears of its end by what fails. */
const UNWATCHED: Watch = { notice() {}, moved() {}, lost() {} };

/**
 * A PostgreSQL of the service's own, with its data, password and log under `dataDir` (created with mode 0700 when
 * absent). A server that already runs there, of another process or left behind by one that was killed, is used;
 * otherwise one is started, and recovers what was committed. The server outlives the process unless `close` is
 * called. Where it ends meanwhile it is started again, a few times; `watch` hears of it, and of where it is then.
 * @throws EmbeddedError with a message for whoever runs the service; within 60 s once the data are set up
 */
export async function openEmbedded(options: {
  dataDir: string;
  signal?: AbortSignal;
  watch?: Watch;
}): Promise<EmbeddedServer> {
  const { signal, watch = UNWATCHED } = options;
  const cluster = await ensureCluster(resolve(options.dataDir));
  const held = await join(cluster, { signal }).catch(async (error: unknown) => {
    if (signal?.aborted) await abandon(cluster, watch);
    throw error;
  });
  const keeper = keep(cluster, held, watch);
  let closing: Promise<void> | undefined;
  return {
    connection: held.connection,
    close: () => {
      closing ??= leave(cluster, keeper.letGo());
      return closing;
    },
  };
}

/** A server that was started and that nobody else uses would stay behind; one that recovers may. */
async function abandon(cluster: Cluster, watch: Watch): Promise<void> {
  try {
    await leave(cluster, Promise.resolve(undefined), ABANDON_TIMEOUT_MS);
  } catch {
    watch.notice(
      'PostgreSQL still starts, recovers or stops, and goes on by itself: the next start waits for it',
    );
  }
}

async function leave(
  cluster: Cluster,
  letGo: Promise<pg.Client | undefined>,
  withinMs = CLOSE_TIMEOUT_MS,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  let client = await letGo;
  let lastError: unknown;
  try {
    while (Date.now() < deadline) {
      const found = await findPostmaster(cluster.directory);
      if (found === undefined) return;
      if (client !== undefined || found.ready) {
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
