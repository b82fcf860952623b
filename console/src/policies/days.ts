/** The days of the time line, without gaps. */
import type { WatchReply } from '../../../src/subjects/evaluation/routes/forms.ts';

export type Day = WatchReply['days'][number];

const DAY_MS = 86_400_000;

/** Each day from `since` to today (UTC), oldest first; one without an application has zeros. */
export function everyDay(days: readonly Day[], since: string, now: number): Day[] {
  const known = new Map(days.map((day) => [day.day, day]));
  const found: Day[] = [];
  for (let at = Date.parse(`${since}T00:00:00Z`); at <= now; at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10);
    found.push(known.get(day) ?? { day, approved: 0, in_review: 0, rejected: 0 });
  }
  return found;
}
