/**
 * The hours in which a message may go out, and how many may go out in a day, by the recipient's country, on the wall
 * clocks of its zones. Pure. docs/contact-windows.md has the rule, and the law behind the built-in windows.
 */
import type { Country } from '../../ground/base/country-data.ts';
import {
  dayBegan,
  intersect,
  isoDate,
  MINUTES_A_DAY,
  MS_A_MINUTE,
  type Stretch,
  steadyStretches,
} from '../../ground/base/local-time.ts';
import { MESSAGE_TYPES, type MessageType } from './notify.ts';

// The default contact windows, for countries that an operator's file does not name.

const WORKDAY = ['07:00-19:00'];

/**
 * Colombia, Ley 2300 of 2023: advertising and collection messages Monday to Friday 07:00 to 19:00, Saturday
 * 08:00 to 15:00, never on Sundays or public holidays, and one a day (D42). Every other country is always open.
 */
export const DEFAULT_WINDOWS: WindowRules = {
  CO: {
    zones: ['America/Bogota'],
    hours: {
      monday: WORKDAY,
      tuesday: WORKDAY,
      wednesday: WORKDAY,
      thursday: WORKDAY,
      friday: WORKDAY,
      saturday: ['08:00-15:00'],
      sunday: [],
    },
    closed_on_public_holidays: true,
    closed_dates: [],
    open_dates: {},
    // Offers and approvals advertise a product and name a debt. A rejection may do either, and it can wait until the
    // morning without harm.
    message_types: MESSAGE_TYPES,
    messages_a_day: 1,
  },
};

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

/** The contact window of one country. Hours such as `07:00-19:00` do not include their end; 24:00 is midnight. */
export interface CountryWindow {
  /** At least one zone. A message goes out only while the window is open in every zone. */
  readonly zones: readonly string[];
  /** The hours of each weekday, in order and without overlap. A weekday without hours is closed. */
  readonly hours: Readonly<Record<Weekday, readonly string[]>>;
  readonly closed_on_public_holidays: boolean;
  /** Dates (YYYY-MM-DD) that are closed on any weekday. */
  readonly closed_dates: readonly string[];
  /** The hours of single dates (YYYY-MM-DD), which replace those of the weekday and of a holiday. */
  readonly open_dates: Readonly<Record<string, readonly string[]>>;
  /** The types that the window binds. Other types go out at any time. */
  readonly message_types: readonly MessageType[];
  /** How many messages a phone may get in a calendar day of the zones (D42); null or absent: any number. */
  readonly messages_a_day?: number | null;
}

/** A country without rules is always open. */
export type WindowRules = Readonly<Partial<Record<Country, CountryWindow>>>;

/** The dates (YYYY-MM-DD) of a year's nationwide public holidays; none for an unknown country. */
export type PublicHolidays = (country: Country, year: number) => ReadonlySet<string>;

type WindowState = { readonly open: true } | { readonly open: false; readonly until: Date };

interface OpenTimes {
  readonly types: ReadonlySet<MessageType>;
  /** The open stretches of a UTC day (days since 1970), in minutes since 1970, in order. */
  on(day: number): readonly Stretch[];
  readonly messagesADay: number | null;
  /** When the calendar day of a minute began: in the zone where it began first. */
  dayBegan(minute: number): number;
}

/** How many messages a phone may have got since a moment, the beginning of the country's calendar day (D42). */
export interface DayLimit {
  readonly since: Date;
  readonly most: number;
}

/** The rules, prepared for `windowState`. */
export type ContactWindows = ReadonlyMap<Country, OpenTimes>;

const OPEN: WindowState = { open: true };
const SEARCH_DAYS = 60;
/** Days kept in memory for each country: more than one search needs, so that an answer takes 0.1 microseconds. */
const MAX_DAYS_KEPT = 2 * SEARCH_DAYS;

/** Prepares rules that `checkContactWindows` has checked. */
export function contactWindows(rules: WindowRules, holidays: PublicHolidays): ContactWindows {
  const entries = Object.entries(rules) as [Country, CountryWindow][];
  return new Map(entries.map(([country, window]) => [country, openTimes(country, window, holidays)]));
}

/**
 * Tells whether a message of the type may go out to a country at the instant, and else the next instant at which the
 * message may go out. An unknown country (null) is always open. The check of the rules ensures an open instant within
 * 60 days; without one, `until` is the end of those days, to ask again.
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

/** The limit of the day for a message of the type to a country; null: there is none. An unknown country has none. */
export function dayLimit(
  windows: ContactWindows,
  country: Country | null,
  type: MessageType,
  instant: Date,
): DayLimit | null {
  const times = country === null ? undefined : windows.get(country);
  if (times === undefined || times.messagesADay === null || !times.types.has(type)) return null;
  const began = times.dayBegan(Math.floor(instant.getTime() / MS_A_MINUTE));
  return { since: new Date(began * MS_A_MINUTE), most: times.messagesADay };
}

/** Reads hours such as `07:00-19:00` as minutes of the day; NaN for a time in another form. */
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
  // Messages of a turn ask about the same minute.
  let lastDay = { minute: Number.NaN, began: Number.NaN };
  return {
    types: new Set(window.message_types),
    messagesADay: window.messages_a_day ?? null,
    dayBegan(minute) {
      if (lastDay.minute !== minute)
        lastDay = { minute, began: Math.min(...window.zones.map((zone) => dayBegan(zone, minute))) };
      return lastDay.began;
    },
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
 * The stretches of a UTC day in which the zone's wall clock shows open hours. An hour that the clock skips is not open;
 * an hour that the clock repeats is open twice.
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
