/** The life of a service's process: what ends it, in which order it stops, and how long that may take. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { errorFields } from '../domain/error-fields.ts';

/** Whatever hangs, the process is gone by then after it was told to stop; 8 s are promised. */
const GONE_WITHIN_MS = 7_500;
/** Ctrl-C reaches the service twice under `npm start`, from the terminal and from npm, which passes it on. */
const SAME_SIGNAL_WITHIN_MS = 1_000;
/** How often it is looked whether npm is still there. */
const PARENT_POLL_MS = 1_000;

/** What a service hears and says of its life while it starts and runs. */
interface Life {
  /** Aborts when the process is to stop, also while it starts. */
  readonly signal: AbortSignal;
  /** The service cannot go on: it is stopped, and the process ends with exit code 1. */
  fail(why: string): void;
}

/**
 * Stops a service that is up; tells whether all of it ended in its time. `sinceMs` is when it was told to stop, on the
 * clock of `performance.now()`.
 */
export type Stop = (sinceMs: number) => Promise<boolean>;

/**
 * Starts a service, stops it at SIGTERM, SIGINT, SIGHUP or the end of npm, and ends the process within 8 s of that:
 * with exit code 0 where everything ended in its time, else with 1. A second signal ends it at once.
 * @throws what `start` throws, unless it was told to stop meanwhile
 */
export async function runUntilStopped(log: Logger, start: (life: Life) => Promise<Stop>): Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  let failed = false;
  let sinceMs = 0;
  const end = (why: string, isFailure: boolean) => {
    if (signal.aborted) return;
    failed = isFailure;
    sinceMs = performance.now();
    log[isFailure ? 'fatal' : 'info']({ why }, 'stopping');
    setTimeout(() => {
      log.error('the process did not stop in time: cut short');
      process.exit(1);
    }, GONE_WITHIN_MS).unref();
    stopping.abort();
  };
  onCrash(log);
  onSignals((name) => end(name, false));
  onEndOfNpm(() => end('npm has ended', false));
  const stop = await start({ signal, fail: (why) => end(why, true) }).catch((error: unknown) => {
    if (!signal.aborted || failed) throw error;
    return async () => true;
  });
  if (!signal.aborted) await once(signal, 'abort');
  const inTime = await stop(sinceMs);
  // Explicitly: what hangs may hold a socket that would keep the process alive.
  process.exit(inTime && !failed ? 0 : 1);
}

/** One thing to stop; what has not ended in its time is left behind. */
interface StopStep {
  readonly name: string;
  /** Counted from when the service was told to stop: what one step leaves of its time, the next one has. */
  readonly byMs: number;
  readonly run: () => Promise<unknown>;
}

/** Runs the steps one after the other, whatever becomes of each; tells whether all of them ended in their time. */
export async function stopInOrder(
  log: Logger,
  sinceMs: number,
  steps: readonly StopStep[],
): Promise<boolean> {
  let inTime = true;
  for (const { name, byMs, run } of steps) {
    const problem = await problemOf(run, sinceMs + byMs - performance.now());
    if (problem === null) continue;
    inTime = false;
    log.error({ step: name, problem }, 'did not stop cleanly');
  }
  return inTime;
}

async function problemOf(run: () => Promise<unknown>, withinMs: number): Promise<unknown> {
  const enough = new AbortController();
  try {
    return await Promise.race([
      run().then(() => null),
      sleep(Math.max(withinMs, 0), 'out of time', { signal: enough.signal }),
    ]);
  } catch (error) {
    return errorFields(error);
  } finally {
    enough.abort();
  }
}

/** The first signal is told; a later one ends the process at once. SIGHUP: the terminal was closed. */
function onSignals(tell: (name: string) => void): void {
  let toldAtMs: number | undefined;
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (toldAtMs !== undefined && performance.now() - toldAtMs > SAME_SIGNAL_WITHIN_MS) process.exit(1);
      toldAtMs ??= performance.now();
      tell(name);
    });
  }
}

/**
 * A SIGKILL of npm is meant for the service, and no signal reaches it: its parent is another process from then on.
 * Only below npm: a service that is started by itself may well outlive its starter.
 */
function onEndOfNpm(tell: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    tell();
  }, PARENT_POLL_MS).unref();
}

/** After an error that nobody expected the state is unknown: the process ends, and what it acknowledged is stored. */
function onCrash(log: Logger): void {
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ origin, ...errorFields(error) }, 'an unexpected error ends the process');
    process.exit(1);
  });
}
