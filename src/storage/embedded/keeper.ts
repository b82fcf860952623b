/** Holds the server while the process uses it, and starts it again where it ended without being asked to. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Cluster } from './cluster.ts';
import { DiskFullError, EmbeddedError } from './errors.ts';
import { type Held, join } from './join.ts';
import { type EmbeddedConnection, hangUp } from './session.ts';

/** Before each try, in milliseconds; after the last one nothing more is tried. */
const PAUSES_MS = [0, 500, 1_000, 2_000, 5_000, 10_000];
/** A server that was held for so long is a good one: the tries are counted anew. One that ends sooner was a try. */
const STABLE_MS = 60_000;
/** Before each try while the disk is full, which no restart of the service would mend: those are not counted. */
const FULL_PAUSE_MS = 2_000;

/** Who hears what becomes of the server after it was opened. */
export interface Watch {
  /** Something that whoever runs the service should know, as a sentence. */
  notice(text: string): void;
  /** It runs again, perhaps on another port. */
  moved(connection: EmbeddedConnection): void;
  /** It could not be started again, and nothing more is tried. */
  lost(error: Error): void;
}

interface Keeper {
  /** Ends the keeping, also a start under way; the session that holds the server, where there is one. */
  letGo(): Promise<pg.Client | undefined>;
}

/**
 * Of several processes that lost the same server one starts it again, the others come to it: PostgreSQL's own lock
 * file decides.
 */
export function keep(cluster: Cluster, first: Held, watch: Watch): Keeper {
  const leaving = new AbortController();
  const { signal } = leaving;
  let client: pg.Client | undefined;
  let tries = 0;
  let restoring = Promise.resolve();
  const hold = (held: Held) => {
    const sinceMs = performance.now();
    client = held.client;
    client.once('end', () => {
      client = undefined;
      if (signal.aborted) return;
      if (performance.now() - sinceMs > STABLE_MS) tries = 0;
      restoring = restore(held.connection.port);
    });
  };
  const restore = async (port: number) => {
    watch.notice('PostgreSQL has ended, or its connections have: starting it again if need be');
    let failure: Error = new EmbeddedError(`PostgreSQL ended soon after each start: see ${cluster.logFile}`);
    for (let isFull = false; !signal.aborted; ) {
      if (!isFull && tries === PAUSES_MS.length) return watch.lost(failure);
      try {
        await sleep(isFull ? FULL_PAUSE_MS : PAUSES_MS[tries], undefined, { signal });
        const held = await join(cluster, { signal, port });
        if (signal.aborted) return await hangUp(held.client);
        if (!isFull) tries += 1;
        hold(held);
        watch.moved(held.connection);
        return watch.notice('PostgreSQL runs again');
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof DiskFullError) {
          if (!isFull) watch.notice(`${error.message}; trying again until there is room`);
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
