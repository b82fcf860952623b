export const HOUR_MS = 60 * 60_000;
export const DAY_MS = 24 * HOUR_MS;

/** A wait that doubles with each try (from 1), up to the longest one. In milliseconds. */
export function doublingMs(tries: number, firstMs: number, longestMs: number): number {
  return Math.min(firstMs * 2 ** (tries - 1), longestMs);
}

/** ISO 8601 with a numeric offset, the form of every time in an answer (D23). */
export function withOffset(time: Date): string {
  return time.toISOString().replace('Z', '+00:00');
}

/** ISO 8601 as `withOffset` writes it, of a time that may be absent. */
export function optionalTime(time: Date | null): string | null {
  return time === null ? null : withOffset(time);
}
