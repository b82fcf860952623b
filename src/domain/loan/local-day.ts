/** Days on the wall clock of a time zone: a loan's dates and periods count in them (docs/signing.md). Pure. */
import { isoDate, MINUTES_A_DAY, MS_A_MINUTE, steadyStretches } from '../../ground/base/local-time.ts';

/** The date (YYYY-MM-DD) that the zone's wall clock shows at an instant. */
export function localDate(instant: Date, zone: string): string {
  const minute = Math.floor(instant.getTime() / MS_A_MINUTE);
  const day = Math.floor(minute / MINUTES_A_DAY);
  const offset = steadyStretches(zone, day).find(({ end }) => minute < end)?.offset ?? 0;
  return isoDate(Math.floor((minute + offset) / MINUTES_A_DAY));
}

/** The instant at which a date begins in the zone. */
export function startOfDate(date: string, zone: string): Date {
  const midnight = dayOf(date) * MINUTES_A_DAY;
  for (let day = dayOf(date) - 1; day <= dayOf(date) + 1; day += 1) {
    for (const { start, end, offset } of steadyStretches(zone, day)) {
      // A clock that skips midnight begins the date with the first minute after it.
      const minute = Math.max(start, midnight - offset);
      if (minute < end) return new Date(minute * MS_A_MINUTE);
    }
  }
  throw new RangeError(`${date} does not begin in ${zone}`);
}

/** The date so many days later. */
export function addDays(date: string, days: number): string {
  return isoDate(dayOf(date) + days);
}

/** The same day so many months later; the last day of that month where it has no such day. */
export function addMonths(date: string, months: number): string {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  const first = new Date(Date.UTC(year, month - 1 + months, 1));
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  return addDays(first.toISOString().slice(0, 10), Math.min(day, last) - 1);
}

/** 0 is Sunday. */
export function weekdayOf(date: string): number {
  return new Date(date).getUTCDay();
}

function dayOf(date: string): number {
  return Date.parse(date) / (MINUTES_A_DAY * MS_A_MINUTE);
}
