/** Decisions as bars of equal spans of time, without gaps. */
import type { LeadReply } from '../../../src/subjects/desk/routes/work-forms.ts';

type Hour = LeadReply['hours'][number];

export const ACTS = ['approved', 'rejected', 'disbursed'] as const;
export type CountedAct = (typeof ACTS)[number];

export interface Bar extends Readonly<Record<CountedAct, number>> {
  /** When it begins, in milliseconds since 1970. */
  readonly from: number;
  readonly total: number;
}

/** The spans that the picture has: a screen has no room for more than some 200 bars. */
export type Span = 'hour' | 'day';

const MOST_HOURS = 7 * 24;
/** So many names fit a phone, where each begins at its bar. */
const MOST_NAMES = 5;

export function spanOf(days: number): Span {
  return days * 24 <= MOST_HOURS ? 'hour' : 'day';
}

/**
 * One bar for each span up to `now`, oldest first; a span without decisions has zeros. Days are those of the
 * browser's time zone, as the times beside them.
 */
export function decisionBars(hours: readonly Hour[], days: number, now: number): Bar[] {
  const span = spanOf(days);
  const counts = new Map<number, Record<CountedAct, number>>();
  for (const hour of hours) {
    const from = beginOf(Date.parse(hour.hour), span);
    const known = counts.get(from) ?? { approved: 0, rejected: 0, disbursed: 0 };
    for (const act of ACTS) known[act] += hour[act];
    counts.set(from, known);
  }
  const bars: Bar[] = [];
  const count = span === 'hour' ? days * 24 : days;
  for (let back = count - 1; back >= 0; back -= 1) {
    const from = beginOf(now, span, back);
    const known = counts.get(from) ?? { approved: 0, rejected: 0, disbursed: 0 };
    bars.push({ from, ...known, total: known.approved + known.rejected + known.disbursed });
  }
  return bars;
}

/** When the span of a time begins, or the one `back` spans before. A day of a change of clocks has 23 or 25 hours. */
function beginOf(time: number, span: Span, back = 0): number {
  const begin = new Date(time);
  if (span === 'hour') return begin.setUTCMinutes(0, 0, 0) - back * 3_600_000;
  begin.setHours(0, 0, 0, 0);
  return begin.setDate(begin.getDate() - back);
}

/** The bars that the axis names: each so many of all; of hours of a week every second at which a day begins. */
export function namedBars(bars: readonly Bar[]): Bar[] {
  const every = Math.ceil(bars.length / MOST_NAMES);
  if (bars.length < MOST_HOURS) return bars.filter((_bar, index) => index % every === 0);
  const hasRoom = (index: number) => index <= bars.length - every;
  return bars
    .filter(({ from }, index) => hasRoom(index) && new Date(from).getHours() === 0)
    .filter((_bar, index) => index % 2 === 0);
}
