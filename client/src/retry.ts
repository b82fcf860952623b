/** Computes the waits between attempts. */

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** A longer `Retry-After` counts as this. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Milliseconds to wait after failed attempt number `attempt` (from 1). The wait doubles from half a second; its upper
 * half is left to chance, so that many clients do not come back together. A longer `retryAfterMs`, capped, wins.
 * `random` is from 0 to 1.
 */
export function delayAfter(attempt: number, retryAfterMs: number | null, random: number): number {
  const backoff = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  const asked = Math.min(MAX_RETRY_AFTER_MS, retryAfterMs ?? 0);
  return Math.max(backoff * (0.5 + random / 2), asked);
}

/**
 * The wait that `Retry-After` asks for, in milliseconds; null where it is absent or unreadable. It holds seconds or a
 * date. A date is compared with the answer's own `Date`, where there is one, because the two clocks may differ.
 */
export function readRetryAfter(headers: Pick<Headers, 'get'>, now: number): number | null {
  const value = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  // Date.parse reads other forms differently by engine or time zone.
  const until = /^[A-Z][a-z]+, .+ GMT$/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(until)) return null;
  const serverNow = Date.parse(headers.get('Date') ?? '');
  return Math.max(0, until - (Number.isNaN(serverNow) ? now : serverNow));
}
