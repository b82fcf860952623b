/**
 * Logs repeated failures of one kind once a minute: a line when the failure begins, then one with the count. Writes to
 * the log. `ground/postgres/store-trouble.ts` says which failures may pass.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../ground/base/clock.ts';
import { errorFields } from '../../ground/base/describe-error.ts';
import { UnavailableError } from '../../ground/base/registration-failure.ts';
import { toldBy } from '../../ground/base/told-error.ts';
import { storeTrouble } from '../../ground/postgres/store-trouble.ts';

const AGAIN_AFTER_MS = 60_000;

/** Logs a failure; equal texts are one failure. `facts` describe the failure that is logged. */
export type LogFailure = (text: string, facts: object) => void;

/** A failure that was logged less than a minute ago is only counted; its next line gives the count. */
export function failureLog(log: Logger, clock: Clock, level: 'error' | 'warn' = 'error'): LogFailure {
  const known = new Map<string, { loggedAtMs: number; unlogged: number }>();
  return (text, facts) => {
    const nowMs = clock.monotonicMs();
    const before = known.get(text);
    if (before !== undefined && nowMs - before.loggedAtMs < AGAIN_AFTER_MS) {
      before.unlogged += 1;
      return;
    }
    log[level]({ ...facts, times_since: before?.unlogged ?? 0 }, text);
    known.set(text, { loggedAtMs: nowMs, unlogged: 0 });
  };
}

/**
 * A sentence for the log if the failure may pass by itself and the client should try again; null for other failures.
 */
export function temporaryTrouble(error: unknown): string | null {
  return storeTrouble(error) ?? (error instanceof UnavailableError ? error.message : null);
}

/**
 * Logs failures of work that repeats by itself. A failure that all work meets, such as an unreachable database or a
 * full place, is one failure for all of it. Any other failure counts for its own work.
 */
export function workFailureLog(logFailure: LogFailure): (work: string, error: unknown) => void {
  return (work, error) =>
    logFailure(storeTrouble(error) ?? toldBy(error) ?? `${work} failed`, { work, error: errorFields(error) });
}

/** Logs idle database connections that ended. A server that stops ends all of them, and they make one line. */
export function connectionEndLog(log: Logger, clock: Clock): (error: unknown) => void {
  const logEnd = failureLog(log, clock, 'warn');
  return (error) => logEnd('database connections ended', { error: errorFields(error) });
}
