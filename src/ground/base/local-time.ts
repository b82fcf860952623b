/**
 * Converts between UTC and the wall clocks of time zones, in whole minutes. `Intl` has the rules of the zones (IANA).
 * No function reads a clock: each gets the time as an argument.
 */

export const MINUTES_A_DAY = 24 * 60;
export const MS_A_MINUTE = 60_000;

/** The minutes from `start` on, up to `end` but without `end`. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** A stretch of UTC, since 1970, in which a zone's wall clock is ahead of UTC by the same number of minutes. */
interface SteadyStretch extends Stretch {
  readonly offset: number;
}

/** True if `zone` is a time zone: a name of the IANA database or an offset such as -05:00. */
export function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/**
 * The UTC day `day` (days since 1970), cut to the minute where the zone's wall clock changes its offset. No zone
 * changes its offset twice a day.
 */
export function steadyStretches(zone: string, day: number): readonly SteadyStretch[] {
  const start = day * MINUTES_A_DAY;
  const end = start + MINUTES_A_DAY;
  const before = offsetAt(zone, start);
  const after = offsetAt(zone, end);
  if (before === after) return [{ start, end, offset: before }];
  let steadyUntil = start;
  let change = end;
  while (change - steadyUntil > 1) {
    const middle = Math.floor((steadyUntil + change) / 2);
    if (offsetAt(zone, middle) === before) steadyUntil = middle;
    else change = middle;
  }
  if (change === end) return [{ start, end, offset: before }];
  return [
    { start, end: change, offset: before },
    { start: change, end, offset: after },
  ];
}

/** When the day began that the zone's wall clock shows at a minute, in minutes since 1970. */
export function dayBegan(zone: string, minute: number): number {
  const localDay = Math.floor((minute + offsetAt(zone, minute)) / MINUTES_A_DAY);
  const today = Math.floor(minute / MINUTES_A_DAY);
  // Wall clocks differ from UTC by less than a day, so the day began today or on one of the two days before.
  const begins = [today - 2, today - 1, today].flatMap((day) =>
    steadyStretches(zone, day).flatMap(({ start, end, offset }) => {
      const begin = Math.max(start, localDay * MINUTES_A_DAY - offset);
      return begin < end ? [begin] : [];
    }),
  );
  return Math.min(...begins);
}

/** The common parts of two ordered lists of stretches, in order. */
export function intersect(some: readonly Stretch[], others: readonly Stretch[]): Stretch[] {
  return some.flatMap((one) =>
    others
      .map((other) => ({ start: Math.max(one.start, other.start), end: Math.min(one.end, other.end) }))
      .filter(({ start, end }) => start < end),
  );
}

/** Writes a day, counted since 1970, as YYYY-MM-DD. */
export function isoDate(day: number): string {
  return new Date(day * MINUTES_A_DAY * MS_A_MINUTE).toISOString().slice(0, 10);
}

// To make a format takes far longer than to use it. The zones bound the size of the map.
const FORMATS = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = FORMATS.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    FORMATS.set(zone, format);
  }
  return format;
}

/** The minutes by which the wall clock is ahead of UTC, at a minute since 1970. */
function offsetAt(zone: string, minute: number): number {
  const text = formatOf(zone).format(minute * MS_A_MINUTE);
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(text) ?? [];
  if (sign === undefined) return 0;
  const offset = Number(hours) * 60 + Number(minutes);
  return sign === '-' ? -offset : offset;
}
