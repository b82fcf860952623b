/** When a message may go out: hours by the recipient's country, on the wall clocks of its zones. Pure. */
import type { Country } from '../country-data.ts';
import {
  intersect,
  isoDate,
  MINUTES_A_DAY,
  MS_A_MINUTE,
  type Stretch,
  steadyStretches,
} from '../local-time.ts';
import type { MessageType } from './notify.ts';

/** In the order of `Date.getUTCDay`. */
export const WEEKDAYS = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** When one country may be written to. Hours read `07:00-19:00`: the end is outside, and 24:00 is midnight. */
export interface CountryWindow {
  /** At least one. A message goes only when the window is open in all of them. */
  readonly zones: readonly string[];
  /** In order and apart from each other. A weekday without hours is closed. */
  readonly hours: Readonly<Record<Weekday, readonly string[]>>;
  readonly closed_on_public_holidays: boolean;
  /** YYYY-MM-DD, closed whatever the weekday says. */
  readonly closed_dates: readonly string[];
  /** By YYYY-MM-DD, the hours of that date whatever the weekday or the holiday says. */
  readonly open_dates: Readonly<Record<string, readonly string[]>>;
  /** The types that the window binds; the others go at any time. */
  readonly message_types: readonly MessageType[];
}

/** A country without rules is always open. */
export type WindowRules = Readonly<Partial<Record<Country, CountryWindow>>>;

/** The dates (YYYY-MM-DD) of a year that are public holidays all over a country; none where it is not known. */
export type PublicHolidays = (country: Country, year: number) => ReadonlySet<string>;

type WindowState = { readonly open: true } | { readonly open: false; readonly until: Date };

interface OpenTimes {
  readonly types: ReadonlySet<MessageType>;
  /** When the country is open on a UTC day (days since 1970), in minutes since 1970, in order. */
  on(day: number): readonly Stretch[];
}

/** Rules made ready for `windowState`. */
export type ContactWindows = ReadonlyMap<Country, OpenTimes>;

const OPEN: WindowState = { open: true };
const SEARCH_DAYS = 60;
/** Kept per country: more than a search goes through, so that an answer takes a tenth of a microsecond. */
const MAX_DAYS_KEPT = 2 * SEARCH_DAYS;

/** Makes rules that `checkContactWindows` would pass ready for use. */
export function contactWindows(rules: WindowRules, holidays: PublicHolidays): ContactWindows {
  const entries = Object.entries(rules) as [Country, CountryWindow][];
  return new Map(entries.map(([country, window]) => [country, openTimes(country, window, holidays)]));
}

/**
 * Whether a message of the type may go out to a country at the instant, and else the next instant at which it
 * may. An unknown country (null) is always open. Should none come within 60 days, which the check of the rules
 * keeps from happening, `until` is the end of those days: ask again then.
 */
export function windowState(
  windows: ContactWindows,
  country: Country | null,
  type: MessageType,
  instant: Date,
): WindowState {
  const times = country === null ? undefined : windows.get(country);
  if (times === undefined || !times.types.has(type)) return OPEN;
  const now = instant.getTime() / MS_A_MINUTE;
  const today = Math.floor(now / MINUTES_A_DAY);
  const lastDay = today + SEARCH_DAYS;
  for (let day = today; day <= lastDay; day++) {
    const next = times.on(day).find(({ end }) => end > now);
    if (next === undefined) continue;
    return next.start <= now ? OPEN : { open: false, until: new Date(next.start * MS_A_MINUTE) };
  }
  return { open: false, until: new Date((lastDay + 1) * MINUTES_A_DAY * MS_A_MINUTE) };
}

/** Hours such as `07:00-19:00` as minutes of the day; NaN where a time is not written so. */
export function parseHours(text: string): Stretch {
  const [start, end] = text.split('-').map((time) => {
    const [, hours, minutes] = /^(\d\d):(\d\d)$/.exec(time) ?? [];
    return Number(hours) * 60 + Number(minutes);
  });
  return { start: start ?? Number.NaN, end: end ?? Number.NaN };
}

function openTimes(country: Country, window: CountryWindow, holidays: PublicHolidays): OpenTimes {
  const hoursOf = hoursByDate(country, window, holidays);
  const kept = new Map<number, readonly Stretch[]>();
  return {
    types: new Set(window.message_types),
    on(day) {
      let open = kept.get(day);
      if (open === undefined) {
        if (kept.size >= MAX_DAYS_KEPT) kept.clear();
        open = window.zones.map((zone) => openInZone(zone, day, hoursOf)).reduce(intersect);
        kept.set(day, open);
      }
      return open;
    },
  };
}

type HoursByDate = (localDay: number) => readonly Stretch[];

function hoursByDate(country: Country, window: CountryWindow, holidays: PublicHolidays): HoursByDate {
  const weekly = WEEKDAYS.map((weekday) => window.hours[weekday].map(parseHours));
  const closed = new Set(window.closed_dates);
  const open = new Map(
    Object.entries(window.open_dates).map(([date, hours]) => [date, hours.map(parseHours)]),
  );
  return (localDay) => {
    const date = isoDate(localDay);
    const extra = open.get(date);
    if (extra !== undefined) return extra;
    if (closed.has(date)) return [];
    if (window.closed_on_public_holidays && holidays(country, Number(date.slice(0, 4))).has(date)) return [];
    return weekly[new Date(date).getUTCDay()] ?? [];
  };
}

/**
 * When the zone's wall clock shows open hours on a UTC day. An hour that the clock skips is never open, one that
 * it repeats is open twice.
 */
function openInZone(zone: string, day: number, hoursOf: HoursByDate): readonly Stretch[] {
  return steadyStretches(zone, day).flatMap(({ start, end, offset }) => {
    const open: Stretch[] = [];
    const lastDay = Math.floor((end + offset - 1) / MINUTES_A_DAY);
    for (let localDay = Math.floor((start + offset) / MINUTES_A_DAY); localDay <= lastDay; localDay++) {
      const midnight = localDay * MINUTES_A_DAY - offset;
      for (const hours of hoursOf(localDay)) {
        open.push({ start: midnight + hours.start, end: midnight + hours.end });
      }
    }
    return intersect([{ start, end }], open);
  });
}
