/** The wall clocks of time zones, in whole minutes. Knows the zones' rules from `Intl`, and no clock of its own. */

export const MINUTES_A_DAY = 24 * 60;
export const MS_A_MINUTE = 60_000;

/** From `start` up to, but not including, `end`, in minutes. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** A stretch of UTC, since 1970, in which a zone's wall clock is ahead of UTC by the same number of minutes. */
interface SteadyStretch extends Stretch {
  readonly offset: number;
}

/** Whether `zone` is a time zone: a name of the IANA database or an offset such as -05:00. */
export function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/**
 * The UTC day `day` (days since 1970), cut where the zone's wall clock is put forward or back, to the minute.
 * No zone does so twice a day.
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

/** The parts that two ordered lists of stretches have in common, in order. */
export function intersect(some: readonly Stretch[], others: readonly Stretch[]): Stretch[] {
  return some.flatMap((one) =>
    others
      .map((other) => ({ start: Math.max(one.start, other.start), end: Math.min(one.end, other.end) }))
      .filter(({ start, end }) => start < end),
  );
}

/** A calendar day as days since 1970, written YYYY-MM-DD. */
export function isoDate(day: number): string {
  return new Date(day * MINUTES_A_DAY * MS_A_MINUTE).toISOString().slice(0, 10);
}

// To make one takes far longer than to use it. As many as there are zones at most.
const FORMATS = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = FORMATS.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    FORMATS.set(zone, format);
  }
  return format;
}

/** How far the wall clock is ahead of UTC at a minute since 1970, in minutes. */
function offsetAt(zone: string, minute: number): number {
  const text = formatOf(zone).format(minute * MS_A_MINUTE);
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(text) ?? [];
  if (sign === undefined) return 0;
  const offset = Number(hours) * 60 + Number(minutes);
  return sign === '-' ? -offset : offset;
}
