/**
 * The life of a service's process: the signals that end it, the order of its stop, and the time that a stop may take.
 * Touches signals, the parent process and the exit. ARCHITECTURE, "A process's life", and docs/operations.md
 * ("Stopping") have the rule.
 */
import { once } from 'node:events';
import type { Logger } from 'pino';
import type { Clock } from '../ground/base/clock.ts';
import { errorFields } from '../ground/base/describe-error.ts';

/** The process ends this long after the stop signal, even if a part hangs. The documents promise 8 s. */
export const GONE_WITHIN_MS = 7_500;
/** Under `npm start`, Ctrl-C reaches the service twice: from the terminal, and from npm. */
const SAME_SIGNAL_WITHIN_MS = 1_000;
/** The interval at which the process checks that npm still runs. */
const PARENT_POLL_MS = 1_000;

/** What a service, while it starts or runs, has to do with the life of its process. */
interface Life {
  /** Aborts when the process has to stop, also during the start. */
  readonly signal: AbortSignal;
  /** The service calls this if it cannot go on. The service is stopped, and the process ends with exit code 1. */
  fail(why: string): void;
}

/**
 * Stops a running service. Resolves to true if every part ended in its time. `sinceMs` is the time of the stop signal
 * on `Clock.monotonicMs`.
 */
export type Stop = (sinceMs: number) => Promise<boolean>;

/**
 * Starts a service, stops it at SIGTERM, SIGINT, SIGHUP or the end of npm, and ends the process within 8 s of that. The
 * exit code is 0 if every part ended in its time, else 1. A second signal ends the process at once. Tests have a
 * shorter `goneWithinMs`.
 * @throws the error of `start`, unless a stop signal came first
 */
export async function runUntilStopped(
  log: Logger,
  clock: Clock,
  start: (life: Life) => Promise<Stop>,
  goneWithinMs = GONE_WITHIN_MS,
): Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  let failed = false;
  let sinceMs = 0;
  const end = (why: string, isFailure: boolean) => {
    if (signal.aborted) return;
    failed = isFailure;
    sinceMs = clock.monotonicMs();
    log[isFailure ? 'fatal' : 'info']({ why }, 'stopping');
    const exit = () => {
      log.error('the service did not stop in time: the process ends now');
      process.exit(1);
    };
    clock.after(goneWithinMs, exit, { ref: false });
    stopping.abort();
  };
  onCrash(log);
  onSignals(clock, (name) => end(name, false));
  onEndOfNpm(clock, () => end('npm has ended', false));
  const stop = await start({ signal, fail: (why) => end(why, true) }).catch((error: unknown) => {
    if (!signal.aborted || failed) throw error;
    return async () => true;
  });
  if (!signal.aborted) await once(signal, 'abort');
  const inTime = await stop(sinceMs);
  // A part that hangs may hold a socket, which would keep the process alive.
  process.exit(inTime && !failed ? 0 : 1);
}

/** One step of a stop. */
interface StopStep {
  readonly name: string;
  /** The next step begins when this one has ended, or this long after the stop signal, in milliseconds. */
  readonly byMs: number;
  readonly run: () => Promise<unknown>;
}

/** A step has at least this long, however late it begins. */
const LEAST_MS = 250;

/**
 * Runs the steps one after the other, also after a failure. A step that is not over when the next one begins continues
 * beside it. Resolves to true if all had ended by the time of the last step. Steps that have not ended are left behind.
 */
export async function stopInOrder(
  log: Logger,
  clock: Clock,
  sinceMs: number,
  steps: readonly StopStep[],
): Promise<boolean> {
  const begun: { readonly name: string; readonly end: Promise<unknown> }[] = [];
  let untilMs = 0;
  for (const { name, byMs, run } of steps) {
    untilMs = Math.max(sinceMs + byMs, clock.monotonicMs() + LEAST_MS);
    const end = problemOf(run);
    begun.push({ name, end });
    await endOrTime(clock, end, untilMs);
  }
  const problems = await Promise.all(
    begun.map(async ({ name, end }) => ({ step: name, problem: await endOrTime(clock, end, untilMs) })),
  );
  const failed = problems.filter(({ problem }) => problem !== null);
  for (const facts of failed) log.error(facts, 'this part did not stop cleanly');
  return failed.length === 0;
}

/** Resolves to null if the step ended well, else to the fields of its error. */
async function problemOf(run: () => Promise<unknown>): Promise<unknown> {
  try {
    await run();
    return null;
  } catch (error) {
    return errorFields(error);
  }
}

/** What `end` resolves to, or `out of time` at this instant of `Clock.monotonicMs`. */
async function endOrTime(clock: Clock, end: Promise<unknown>, untilMs: number): Promise<unknown> {
  const enough = new AbortController();
  try {
    const leftMs = Math.max(untilMs - clock.monotonicMs(), 0);
    const late = clock.sleep(leftMs, { signal: enough.signal }).then(() => 'out of time');
    return await Promise.race([end, late]);
  } finally {
    enough.abort();
  }
}

/** Calls `tell` at the first signal; a later signal ends the process at once. SIGHUP: the terminal was closed. */
function onSignals(clock: Clock, tell: (name: string) => void): void {
  let toldAtMs: number | undefined;
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (toldAtMs !== undefined && clock.monotonicMs() - toldAtMs > SAME_SIGNAL_WITHIN_MS) process.exit(1);
      toldAtMs ??= clock.monotonicMs();
      tell(name);
    });
  }
}

/**
 * Detects a SIGKILL of npm by the change of the parent process, because no signal reaches the service. It looks only if
 * npm started the service: without npm a service may outlive the process that started it.
 */
function onEndOfNpm(clock: Clock, tell: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const look = () => {
    if (process.ppid === parent) return;
    timer.cancel();
    tell();
  };
  const timer = clock.every(PARENT_POLL_MS, look, { ref: false });
}

/** After an unexpected error the state is unknown, so the process ends. Everything that it acknowledged is stored. */
function onCrash(log: Logger): void {
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ origin, ...errorFields(error) }, 'an unexpected error ends the process');
    process.exit(1);
  });
}
