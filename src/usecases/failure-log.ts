/** The log of what fails again and again in the same way: a line when it begins, and one a minute while it lasts. */
import type { Logger } from 'pino';
import { errorFields } from '../domain/error-fields.ts';
import { storeTrouble } from '../domain/store-trouble.ts';

const AGAIN_AFTER_MS = 60_000;

/** Logs a failure by its text; `facts` are of the time that met it first. */
export type LogFailure = (text: string, facts: object) => void;

/** A failure that was logged less than a minute ago is only counted, for its next line. */
export function failureLog(
  log: Logger,
  monotonicMs = () => performance.now(),
  level: 'error' | 'warn' = 'error',
): LogFailure {
  const known = new Map<string, { loggedAtMs: number; unlogged: number }>();
  return (text, facts) => {
    const nowMs = monotonicMs();
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
 * Logs failures of work that comes again by itself. What all work meets alike, such as a database that cannot be
 * reached, is one failure; anything else is one of its work.
 */
export function workFailureLog(logFailure: LogFailure): (work: string, error: unknown) => void {
  return (work, error) =>
    logFailure(storeTrouble(error) ?? `${work} failed`, { work, error: errorFields(error) });
}

/** Logs idle database connections that ended: a server that ends or restarts ends them all, and they are one line. */
export function connectionEndLog(log: Logger, monotonicMs?: () => number): (error: unknown) => void {
  const logEnd = failureLog(log, monotonicMs, 'warn');
  return (error) => logEnd('database connections ended', { error: errorFields(error) });
}
