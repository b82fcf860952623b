/** Holds the server while the process uses it, and restarts it if it ends unexpectedly. */
import type pg from 'pg';
import type { ServedCluster } from './cluster.ts';
import { DiskFullError, EmbeddedError } from './errors.ts';
import { type HeldServer, joinServer } from './join.ts';
import { type EmbeddedConnection, hangUp } from './session.ts';

/** The pauses before each try, in milliseconds; there is no try after the last one. */
const PAUSES_MS = [0, 500, 1_000, 2_000, 5_000, 10_000];
/**
 * A server that was held this long works: the tries are counted from 0 again. A server that ends sooner counts as a
 * try.
 */
const STABLE_MS = 60_000;
/**
 * The pause before each try while the disk is full. These tries are not counted, because no restart of the service
 * would help.
 */
export const FULL_PAUSE_MS = 2_000;

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
 * Keeps the server running. Of several processes that lost the same server one restarts it and the others join it;
 * PostgreSQL's own lock file decides which one.
 */
export function keepServer(cluster: ServedCluster, first: HeldServer, listener: ServerListener): Keeper {
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
