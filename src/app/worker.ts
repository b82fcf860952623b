/**
 * The `worker` role: the background work of a service without its API, with listeners for probes and metrics alone.
 * ARCHITECTURE, "The house", has the rule.
 */
import type { Logger } from 'pino';
import { failureLog, workFailureLog } from '../program/operations/failure-log.ts';
import { startBackground } from './background.ts';
import type { Config } from './config/config.ts';
import { type Stop, stopInOrder } from './lifetime.ts';
import { startHealth } from './listeners/health.ts';
import type { Listener } from './listeners/listen.ts';
import type { OpenStore } from './open-store.ts';
import { readiness } from './readiness.ts';
import { showWatch, startWatch } from './watch.ts';

/** The time limits of the steps of a stop, in milliseconds since the stop signal. */
const BACKGROUND_BY_MS = 5_500;
const PROBES_BY_MS = 5_700;

/** Starts the work; returns the function that stops it. Throws if a port is taken. */
export async function startWorker(config: Config, store: OpenStore, log: Logger): Promise<Stop> {
  const { clock } = store;
  const watcher = await startWatch(config, store);
  const failed = workFailureLog(failureLog(log, clock));
  const background = await startBackground(config, store, { log, failed, watcher }, true);
  let stopping = false;
  const isReady = readiness(store, log);
  const ready = async () => !stopping && (await isReady());
  const health = { alive: () => background.alive(), ready };
  const listeners: Listener[] = [];
  const close = () => Promise.all(listeners.map((listener) => listener.close()));
  try {
    listeners.push(await startHealth(config, log, clock, health));
    listeners.push(await showWatch(config, { log, clock, watcher }, health));
    await store.confirm();
  } catch (error) {
    await Promise.all([close(), background.stop()]);
    throw error;
  }
  log.info('worker started');
  return (sinceMs) => {
    stopping = true;
    return stopInOrder(log, clock, sinceMs, [
      { name: 'background', byMs: BACKGROUND_BY_MS, run: () => background.stop() },
      { name: 'probes', byMs: PROBES_BY_MS, run: close },
    ]);
  };
}
