/** The time of the page. This is the one file of the page that reads a clock or sets a timer. */
import type { Clock } from '../../src/ground/base/clock.ts';

/** What the page needs of time. */
export type PageClock = Pick<Clock, 'nowMs' | 'monotonicMs' | 'after' | 'every' | 'timeout'>;

/** The clock and the timers of the browser. */
export const browserClock: PageClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (ms, ring) => {
    const timer = setTimeout(ring, ms);
    return { cancel: () => clearTimeout(timer) };
  },
  every: (ms, ring) => {
    const timer = setInterval(ring, ms);
    return { cancel: () => clearInterval(timer) };
  },
  timeout: (ms) => AbortSignal.timeout(ms),
};
