/** The log of what many requests meet alike: a line when it begins, and one a minute while it lasts. */
import type { Logger } from 'pino';

const AGAIN_AFTER_MS = 60_000;

/** Logs a failure by its text; `facts` are those of the request that met it first. */
export type LogFailure = (text: string, facts: object) => void;

/** A failure that was logged less than a minute ago is only counted, for its next line. */
export function failureLog(log: Logger): LogFailure {
  const known = new Map<string, { loggedAtMs: number; unlogged: number }>();
  return (text, facts) => {
    const now = performance.now();
    const before = known.get(text);
    if (before !== undefined && now - before.loggedAtMs < AGAIN_AFTER_MS) {
      before.unlogged += 1;
      return;
    }
    log.error({ ...facts, requests_since: before?.unlogged ?? 0 }, text);
    known.set(text, { loggedAtMs: now, unlogged: 0 });
  };
}
