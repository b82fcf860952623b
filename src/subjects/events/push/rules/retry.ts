/** When a failed push is tried again (D41). */

/** The waits after the first, the second and each later failure, before the jitter. The last wait repeats. */
const WAITS_MS = [5_000, 30_000, 120_000, 300_000, 900_000] as const;
/** Spreads pushes that failed together. */
const JITTER = 0.2;

/** How long a push waits after its attempt of this number (from 1). `random` is from 0 to 1. */
export function waitAfter(attempt: number, random: number): number {
  const wait = WAITS_MS[Math.min(attempt, WAITS_MS.length) - 1] ?? WAITS_MS[0];
  return Math.round(wait * (1 + JITTER * (2 * random - 1)));
}
