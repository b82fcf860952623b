/** The time of a client. This is the one file of the package that reads a clock or sets a timer. */

/** What a client needs of time. A caller's own clock fits where it has these two. */
export interface Clock {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Calls `ring` once, after so many milliseconds. `cancel` does no harm where the timer has rung. */
  after(ms: number, ring: () => void): { cancel(): void };
}

/** The clock and the timers of the machine. */
export const machineClock: Clock = {
  nowMs: () => Date.now(),
  after: (ms, ring) => {
    const timer = setTimeout(ring, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Resolves after so many milliseconds. Rejects with the signal's reason as soon as the signal is aborted. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.after(ms, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
  });
}
