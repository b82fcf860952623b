/** Whether somebody is at the page. What it asks by itself must not keep a session that nobody uses. */
import { browserClock } from '../clock.ts';

const PRESENT_MS = 60_000;
/** Not moves of the pointer: browsers tell of some where the page moves beneath it. */
const USES = ['keydown', 'pointerdown', 'wheel'] as const;

/** By the page's monotonic clock. */
let usedAt = Number.NEGATIVE_INFINITY;

/** Takes note of what somebody does at the page from now on. To open the page is a use of it. */
export function watchPresence(target: EventTarget): void {
  const used = () => {
    usedAt = browserClock.monotonicMs();
  };
  used();
  for (const use of USES) target.addEventListener(use, used, { capture: true, passive: true });
}

/** The header that tells whether somebody has used the page in the last minute. */
export function presence(): Readonly<Record<string, string>> {
  return { 'Operator-Active': `${browserClock.monotonicMs() - usedAt < PRESENT_MS}` };
}
