/** Checks an operator's contact windows before a message waits for one (docs/contact-windows.md has the form). Pure. */
import { Type } from 'typebox';
import Value from 'typebox/value';
import {
  type CountryWindow,
  contactWindows,
  DEFAULT_WINDOWS,
  type PublicHolidays,
  parseHours,
  WEEKDAYS,
  type Weekday,
  type WindowRules,
  windowState,
} from '../../../domain/message/contact-window.ts';
import { MESSAGE_TYPES } from '../../../domain/message/notify.ts';
import { DAY_MS } from '../../../ground/base/clock.ts';
import { type Country, isCountry } from '../../../ground/base/country-data.ts';
import { isZone } from '../../../ground/base/local-time.ts';
import { ToldError } from '../../../ground/base/told-error.ts';

const MAX_CLOSED_DAYS = 30;
/** A phone's row knows of so many messages (`recipients`). */
const MOST_A_DAY = 20;
/** Within how many days a window must open. After two years, daylight saving time and all holidays have occurred. */
const TRIED_DAYS = 730;

const strict = { additionalProperties: false };
const TIME = '([01]\\d|2[0-3]):[0-5]\\d';
const hours = (minItems: number) =>
  Type.Array(Type.String({ pattern: `^${TIME}-(${TIME}|24:00)$` }), { minItems, maxItems: 24 });
const DATE_PATTERN = '^20\\d\\d-\\d\\d-\\d\\d$';

const WINDOW = Type.Object(
  {
    zones: Type.Array(Type.String(), { minItems: 1, maxItems: 20, uniqueItems: true }),
    hours: Type.Partial(Type.Record(Type.Union(WEEKDAYS.map((day) => Type.Literal(day))), hours(0)), strict),
    closed_on_public_holidays: Type.Optional(Type.Boolean()),
    closed_dates: Type.Optional(
      Type.Array(Type.String({ pattern: DATE_PATTERN }), { maxItems: 1000, uniqueItems: true }),
    ),
    open_dates: Type.Optional(Type.Record(Type.String({ pattern: DATE_PATTERN }), hours(1), strict)),
    message_types: Type.Optional(
      Type.Array(Type.Union(MESSAGE_TYPES.map((type) => Type.Literal(type))), { uniqueItems: true }),
    ),
    messages_a_day: Type.Optional(Type.Unknown()),
  },
  strict,
);

/** A country's window as an operator writes it; `withDefaults` fills in the rest. */
type WrittenWindow = Pick<CountryWindow, 'zones'> & {
  readonly hours: Readonly<Partial<CountryWindow['hours']>>;
} & Partial<Omit<CountryWindow, 'zones' | 'hours'>>;

/**
 * Checks parsed windows and fills in what they leave out. `source` names the file in the error. From `now` on each
 * window must open again and again. Throws `ToldError`.
 */
export function checkContactWindows(
  content: unknown,
  source: string,
  holidays: PublicHolidays,
  now: Date,
): WindowRules {
  const refuse: Refuse = (path, rule) => {
    throw new ToldError(`CONTACT_WINDOWS_FILE ${source}: ${path} ${rule}`);
  };
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    return refuse('the windows', 'must be an object of windows by country');
  }
  const rules: { [country in Country]?: CountryWindow } = {};
  for (const [country, value] of Object.entries(content)) {
    if (!isCountry(country)) return refuse(country, 'is not a country: ISO 3166-1 has no such code');
    checkShape(country, value, refuse);
    const window = withDefaults(country, value as WrittenWindow);
    checkADay(country, window, refuse);
    checkZones(country, window, refuse);
    checkHours(country, window, refuse);
    checkDates(country, window, refuse);
    if (window.closed_on_public_holidays && holidays(country, now.getUTCFullYear()).size === 0) {
      refuse(`${country}.closed_on_public_holidays`, 'cannot be true: no public holidays are known there');
    }
    checkOpens(country, window, holidays, now, refuse);
    rules[country] = window;
  }
  return rules;
}

type Refuse = (path: string, rule: string) => never;

function checkShape(country: Country, value: unknown, refuse: Refuse): void {
  if (Value.Check(WINDOW, value)) return;
  const [first] = Value.Errors(WINDOW, value);
  const path = `${country}${first?.instancePath.replaceAll('/', '.') ?? ''}`;
  refuse(path, (first && RULES[first.keyword]?.(path)) ?? first?.message ?? 'is not a window');
}

/** The text for a broken keyword of the schema, if the keyword's own message would not help. */
const RULES: Readonly<Record<string, (path: string) => string>> = {
  boolean: () => 'is not a key or date that may stand there',
  const: () => `must be one of ${MESSAGE_TYPES.join(', ')}`,
  pattern: (path) =>
    path.includes('.closed_dates')
      ? 'must be a date such as 2026-12-24'
      : 'must be hours such as 07:00-19:00',
};

function withDefaults(country: Country, written: WrittenWindow): CountryWindow {
  const hours = Object.fromEntries(WEEKDAYS.map((day) => [day, written.hours[day] ?? []]));
  return {
    closed_on_public_holidays: false,
    closed_dates: [],
    open_dates: {},
    message_types: MESSAGE_TYPES,
    // Hours of one's own do not lift the law's number.
    messages_a_day: DEFAULT_WINDOWS[country]?.messages_a_day ?? null,
    ...written,
    hours: hours as Record<Weekday, readonly string[]>,
  };
}

function checkADay(country: Country, { messages_a_day: most }: CountryWindow, refuse: Refuse): void {
  const isNumber = Number.isInteger(most) && Number(most) >= 1 && Number(most) <= MOST_A_DAY;
  if (most !== null && !isNumber)
    refuse(
      `${country}.messages_a_day`,
      `must be a whole number from 1 to ${MOST_A_DAY}, or null for any number`,
    );
}

function checkZones(country: Country, { zones }: CountryWindow, refuse: Refuse): void {
  const unknown = zones.findIndex((zone) => !isZone(zone));
  if (unknown >= 0) refuse(`${country}.zones.${unknown}`, 'is not a time zone of the IANA database');
}

function checkHours(country: Country, { hours, open_dates }: CountryWindow, refuse: Refuse): void {
  const lists = [
    ...Object.entries(hours).map(([day, list]) => [`${country}.hours.${day}`, list] as const),
    ...Object.entries(open_dates).map(([date, list]) => [`${country}.open_dates.${date}`, list] as const),
  ];
  for (const [path, list] of lists) {
    let previousEnd = 0;
    for (const [index, text] of list.entries()) {
      const { start, end } = parseHours(text);
      if (start >= end)
        refuse(
          `${path}.${index}`,
          'must end after they begin: split hours that go past midnight into hours of two days',
        );
      if (start < previousEnd)
        refuse(`${path}.${index}`, 'must begin where the hours before it end, or later');
      previousEnd = end;
    }
  }
}

function checkDates(country: Country, { closed_dates, open_dates }: CountryWindow, refuse: Refuse): void {
  const dates = [
    ...closed_dates.map((date, index) => [date, `${country}.closed_dates.${index}`] as const),
    ...Object.keys(open_dates).map((date) => [date, `${country}.open_dates.${date}`] as const),
  ];
  for (const [date, path] of dates) {
    const day = new Date(date);
    if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== date) {
      refuse(path, 'is not a date');
    }
  }
  const both = closed_dates.findIndex((date) => Object.hasOwn(open_dates, date));
  if (both >= 0) refuse(`${country}.closed_dates.${both}`, 'is one of open_dates too');
}

/**
 * Refuses a window whose zones are never open together, or that closed dates keep shut. It would hold messages back for
 * ever.
 */
function checkOpens(
  country: Country,
  window: CountryWindow,
  holidays: PublicHolidays,
  now: Date,
  refuse: Refuse,
): void {
  const [type] = window.message_types;
  if (type === undefined) return;
  const windows = contactWindows({ [country]: window }, holidays);
  const from = window.closed_dates.map((date) => Date.parse(date));
  for (let day = 0; day < TRIED_DAYS; day += MAX_CLOSED_DAYS) from.push(now.getTime() + day * DAY_MS);
  for (const instant of from) {
    const state = windowState(windows, country, type, new Date(instant));
    if (!state.open && state.until.getTime() - instant > MAX_CLOSED_DAYS * DAY_MS) {
      const date = new Date(instant).toISOString().slice(0, 10);
      refuse(
        country,
        `must open in all its zones at once within ${MAX_CLOSED_DAYS} days; from ${date} on it does not`,
      );
    }
  }
}
