/** When a failed attempt is repeated. */

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** A server that asks for more is asked again after this. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Milliseconds to wait after failed attempt number `attempt` (from 1): doubling from half a second, with the
 * upper half left to chance so that many clients do not come back at once; `retryAfterMs`, capped, where that
 * is longer. `random` is from 0 to 1.
 */
export function delayAfter(attempt: number, retryAfterMs: number | null, random: number): number {
  const backoff = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  const asked = Math.min(MAX_RETRY_AFTER_MS, retryAfterMs ?? 0);
  return Math.max(backoff * (0.5 + random / 2), asked);
}

/**
 * What a `Retry-After` asks for, in milliseconds: seconds, or a date, which is read against the answer's own
 * `Date` where there is one, as the two clocks may differ. Null where it is absent or neither.
 */
export function readRetryAfter(headers: Pick<Headers, 'get'>, now: number): number | null {
  const value = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  // What Date.parse makes of anything but a date in this form differs by engine or time zone.
  const until = /^[A-Z][a-z]+, .+ GMT$/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(until)) return null;
  const serverNow = Date.parse(headers.get('Date') ?? '');
  return Math.max(0, until - (Number.isNaN(serverNow) ? now : serverNow));
}

/** Resolves after so many milliseconds; rejects with the signal's reason as soon as it is aborted. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
  });
}
