/**
 * Reads the clocks of a process and sets its timers. This is the one file of the program that does so: everything else
 * gets a `Clock`, so that a test decides what time it is. ARCHITECTURE, "Clocks", has the rule.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** A timer that was set. */
export interface Timer {
  /** The timer does not ring any more. Harmless if it has rung. */
  cancel(): void;
}

/** How a timer is set. */
export interface TimerOptions {
  /** false: the timer alone keeps no process alive. */
  readonly ref?: boolean;
}

export interface Clock {
  /** Milliseconds since 1970, as the machine believes. The clock may step; no rule depends on it (D39). */
  nowMs(): number;
  /** Milliseconds since some instant of this process. The value never steps back. All deadlines are on this clock. */
  monotonicMs(): number;
  /** Resolves after so many milliseconds. Rejects with Node's `AbortError` if `signal` aborts before. */
  sleep(ms: number, options?: TimerOptions & { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /** Calls `ring` once, after so many milliseconds. */
  after(ms: number, ring: () => void, options?: TimerOptions): Timer;
  /** Calls `ring` again and again, so many milliseconds apart, until the timer is cancelled. */
  every(ms: number, ring: () => void, options?: TimerOptions): Timer;
  /** A signal that aborts after so many milliseconds, with a `TimeoutError` as its reason. Keeps no process alive. */
  timeout(ms: number): AbortSignal;
}

/** The clock and the timers of the machine. */
export const machineClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, { ref = true, signal } = {}) => sleep(ms, undefined, { ref, ...(signal && { signal }) }),
  after: (ms, ring, { ref = true } = {}) => {
    const timer = setTimeout(ring, ms);
    if (!ref) timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
  every: (ms, ring, { ref = true } = {}) => {
    const timer = setInterval(ring, ms);
    if (!ref) timer.unref();
    return { cancel: () => clearInterval(timer) };
  },
  timeout: (ms) => AbortSignal.timeout(ms),
};

export const HOUR_MS = 60 * 60_000;
export const DAY_MS = 24 * HOUR_MS;

/** A wait that doubles with each try (from 1), up to the longest one. In milliseconds. */
export function doublingMs(tries: number, firstMs: number, longestMs: number): number {
  return Math.min(firstMs * 2 ** (tries - 1), longestMs);
}

/** True for a day, written `YYYY-MM-DD`, that the calendar has. `Date` reads 30 February as a day of March. */
export function isCalendarDay(text: string): boolean {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

/** ISO 8601 with a numeric offset, the form of every time in an answer (D23). */
export function withOffset(time: Date): string {
  return time.toISOString().replace('Z', '+00:00');
}

/** ISO 8601 as `withOffset` writes it, of a time that may be absent. */
export function optionalTime(time: Date | null): string | null {
  return time === null ? null : withOffset(time);
}
