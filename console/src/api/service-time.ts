/** The service's clock, as its answers tell it. A browser's own clock may be wrong by days (D39). */
import { browserClock } from '../clock.ts';

/** What the monotonic clock lacks of the service's time; null: nothing was answered yet. */
let aheadMs: number | null = null;

/** Takes the time of an answer that came just now. It has whole seconds. */
export function noteTime({ headers }: Response): void {
  const timeMs = Date.parse(headers.get('Date') ?? '');
  if (!Number.isNaN(timeMs)) aheadMs = timeMs - browserClock.monotonicMs();
}

/** The time, in milliseconds since 1970; the browser's until something was answered. */
export function timeNow(): number {
  return aheadMs === null ? browserClock.nowMs() : browserClock.monotonicMs() + aheadMs;
}
