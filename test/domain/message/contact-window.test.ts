import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type CountryWindow,
  contactWindows,
  DEFAULT_WINDOWS,
  dayLimit,
  type PublicHolidays,
  type WindowRules,
  windowState,
} from '../../../src/domain/message/contact-window.ts';
import { MESSAGE_TYPES } from '../../../src/domain/message/notify.ts';
import type { Country } from '../../../src/ground/base/country-data.ts';
import { loadPublicHolidays } from '../../../src/subjects/messages/uses/public-holidays.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const NO_HOLIDAYS: PublicHolidays = () => new Set();
const holidays = await loadPublicHolidays();

/** A window with the same hours every day and nothing else. */
function daily(zones: string[], ...hours: string[]): CountryWindow {
  return {
    zones,
    hours: {
      monday: hours,
      tuesday: hours,
      wednesday: hours,
      thursday: hours,
      friday: hours,
      saturday: hours,
      sunday: hours,
    },
    closed_on_public_holidays: false,
    closed_dates: [],
    open_dates: {},
    message_types: MESSAGE_TYPES,
  };
}

/** `open`, or the end of the closed time, in UTC. */
type Ask = (instant: string | Date) => string;

function asking(rules: WindowRules, country: Country, calendar: PublicHolidays = NO_HOLIDAYS): Ask {
  const windows = contactWindows(rules, calendar);
  return (instant) => {
    const state = windowState(windows, country, 'offer', new Date(instant));
    return state.open ? 'open' : state.until.toISOString();
  };
}

const utc = (instant: string) => new Date(instant).toISOString();
const bogota = (date: string, time: string) => `${date}T${time}-05:00`;
const justBefore = (instant: string) => new Date(Date.parse(instant) - 1);

describe("Colombia's window, by Ley 2300", () => {
  const ask = asking(DEFAULT_WINDOWS, 'CO', holidays);

  it('each weekday opens and closes at its exact minute', () => {
    const days: [date: string, opens: string, closes: string, then: [date: string, time: string]][] = [
      ['2026-11-23', '07:00', '19:00', ['2026-11-24', '07:00']],
      ['2026-11-24', '07:00', '19:00', ['2026-11-25', '07:00']],
      ['2026-11-25', '07:00', '19:00', ['2026-11-26', '07:00']],
      ['2026-11-26', '07:00', '19:00', ['2026-11-27', '07:00']],
      ['2026-11-27', '07:00', '19:00', ['2026-11-28', '08:00']],
      ['2026-11-28', '08:00', '15:00', ['2026-11-30', '07:00']],
    ];
    for (const [date, opens, closes, then] of days) {
      const [start, end] = [bogota(date, opens), bogota(date, closes)];
      assert.equal(ask(bogota(date, '00:00')), utc(start), date);
      assert.equal(ask(justBefore(start)), utc(start), date);
      assert.equal(ask(start), 'open', date);
      assert.equal(ask(justBefore(end)), 'open', date);
      assert.equal(ask(end), utc(bogota(...then)), date);
      assert.equal(ask(bogota(date, '23:59')), utc(bogota(...then)), date);
    }
    for (const time of ['00:00', '08:00', '12:00', '23:59']) {
      assert.equal(ask(bogota('2026-11-29', time)), utc(bogota('2026-11-30', '07:00')), `Sunday ${time}`);
    }
  });

  it('the window stays closed on holidays and on the Sundays beside them', () => {
    const closures: [what: string, from: string, until: string][] = [
      ['Epiphany, moved to Monday', bogota('2026-01-10', '15:00'), bogota('2026-01-13', '07:00')],
      ['Saint Joseph, moved', bogota('2026-03-21', '15:00'), bogota('2026-03-24', '07:00')],
      ['Maundy Thursday, Good Friday', bogota('2026-04-01', '19:00'), bogota('2026-04-04', '08:00')],
      ['Easter', bogota('2026-04-04', '15:00'), bogota('2026-04-06', '07:00')],
      ['Labour Day', bogota('2026-04-30', '19:00'), bogota('2026-05-02', '08:00')],
      ['Ascension, moved', bogota('2026-05-16', '15:00'), bogota('2026-05-19', '07:00')],
      ['two of them on one Monday', bogota('2025-06-28', '15:00'), bogota('2025-07-01', '07:00')],
      ['Chiquinquirá (Ley 2578), moved', bogota('2026-07-11', '15:00'), bogota('2026-07-14', '07:00')],
      ['no Chiquinquirá before its law', bogota('2025-07-12', '15:00'), bogota('2025-07-14', '07:00')],
      ['Immaculate Conception, not moved', bogota('2026-12-07', '19:00'), bogota('2026-12-09', '07:00')],
      ['Christmas', bogota('2026-12-24', '19:00'), bogota('2026-12-26', '08:00')],
      ['New Year', bogota('2026-12-31', '19:00'), bogota('2027-01-02', '08:00')],
      ['Christmas on a Saturday', bogota('2027-12-24', '19:00'), bogota('2027-12-27', '07:00')],
    ];
    for (const [what, from, until] of closures) {
      assert.equal(ask(justBefore(from)), 'open', what);
      assert.equal(ask(from), utc(until), what);
      assert.equal(ask(justBefore(until)), utc(until), what);
      assert.equal(ask(until), 'open', what);
    }
  });

  it("the library has the holidays of Colombia's law", () => {
    const byLaw: [year: number, dates: string][] = [
      [
        2026,
        '01-01 01-12 03-23 04-02 04-03 05-01 05-18 06-08 06-15 06-29 07-13 07-20 08-07 08-17 10-12 11-02 11-16 12-08 12-25',
      ],
      [
        2027,
        '01-01 01-11 03-22 03-25 03-26 05-01 05-10 05-31 06-07 07-05 07-12 07-20 08-07 08-16 10-18 11-01 11-15 12-08 12-25',
      ],
    ];
    for (const [year, dates] of byLaw) {
      const known = [...holidays('CO', year)].filter(
        (date) => date.startsWith(`${year}`) && new Date(date).getUTCDay() !== 0,
      );
      assert.deepEqual(
        known.sort(),
        dates.split(' ').map((date) => `${year}-${date}`),
      );
    }
  });

  it('the time zone of the machine does not change the result', async () => {
    const before = process.env.TZ;
    try {
      for (const zone of ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'America/Santiago']) {
        process.env.TZ = zone;
        const there = asking(DEFAULT_WINDOWS, 'CO', await loadPublicHolidays());
        assert.equal(there(bogota('2026-04-01', '19:00')), utc(bogota('2026-04-04', '08:00')), zone);
        assert.equal(there(bogota('2026-12-31', '19:00')), utc(bogota('2027-01-02', '08:00')), zone);
      }
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });
});

describe('windowState', () => {
  it('a country without a window, an unknown country and a type outside the window are always open', () => {
    const rules = { CO: { ...daily(['America/Bogota']), message_types: ['offer'] } } as const;
    const windows = contactWindows(rules, NO_HOLIDAYS);
    const sunday = new Date('2026-11-29T12:00Z');
    assert.equal(windowState(windows, 'CO', 'offer', sunday).open, false);
    assert.deepEqual(windowState(windows, 'CO', 'approved', sunday), { open: true });
    assert.deepEqual(windowState(windows, 'MX', 'offer', sunday), { open: true });
    assert.deepEqual(windowState(windows, null, 'offer', sunday), { open: true });
  });

  it('the window opens at the same local time before and after a change of the clocks', () => {
    const opensAt7: [zone: string, date: string, opens: string][] = [
      ['America/Santiago', '2026-04-04', '10:00'],
      ['America/Santiago', '2026-04-05', '11:00'],
      ['America/Santiago', '2026-09-05', '11:00'],
      ['America/Santiago', '2026-09-06', '10:00'],
      // Paraguay has stayed on summer time since October 2024.
      ['America/Asuncion', '2024-03-23', '10:00'],
      ['America/Asuncion', '2024-03-24', '11:00'],
      ['America/Asuncion', '2024-10-06', '10:00'],
      ['America/Asuncion', '2025-03-23', '10:00'],
      ['America/Asuncion', '2026-07-01', '10:00'],
      ['America/New_York', '2026-03-07', '12:00'],
      ['America/New_York', '2026-03-08', '11:00'],
      ['America/New_York', '2026-10-31', '11:00'],
      ['America/New_York', '2026-11-01', '12:00'],
    ];
    for (const [zone, date, opens] of opensAt7) {
      const ask = asking({ CL: daily([zone], '07:00-19:00') }, 'CL');
      const start = utc(`${date}T${opens}Z`);
      assert.equal(ask(new Date(Date.parse(start) - 5 * 60 * MINUTE_MS)), start, `${zone} ${date}`);
      assert.equal(ask(start), 'open', `${zone} ${date}`);
    }
  });

  it('an hour that the clock skips is not open; an hour that the clock repeats is open twice', () => {
    const changes: [zone: string, hours: string, from: string, opens: string][] = [
      ['America/New_York', '02:15-04:00', '2026-03-08T06:00Z', '2026-03-08T07:00Z'],
      ['America/New_York', '02:15-02:45', '2026-03-08T06:00Z', '2026-03-09T06:15Z'],
      ['America/New_York', '01:30-01:45', '2026-11-01T05:00Z', '2026-11-01T05:30Z'],
      ['America/New_York', '01:30-01:45', '2026-11-01T05:45Z', '2026-11-01T06:30Z'],
      ['America/New_York', '01:30-01:45', '2026-11-01T06:45Z', '2026-11-02T06:30Z'],
      ['America/Santiago', '00:30-03:00', '2026-09-06T03:59Z', '2026-09-06T04:00Z'],
      ['America/Santiago', '23:00-23:30', '2026-04-05T01:00Z', '2026-04-05T02:00Z'],
      ['America/Santiago', '23:00-23:30', '2026-04-05T02:30Z', '2026-04-05T03:00Z'],
      // Samoa skipped the whole of 2011-12-30.
      ['Pacific/Apia', '09:00-10:00', '2011-12-29T20:00Z', '2011-12-30T19:00Z'],
    ];
    for (const [zone, hours, from, opens] of changes) {
      const ask = asking({ US: daily([zone], hours) }, 'US');
      assert.equal(ask(from), utc(opens), `${zone} ${hours} ${from}`);
      assert.equal(ask(opens), 'open', `${zone} ${hours} ${opens}`);
    }
  });

  it('a country of several zones is open while every zone is open', () => {
    const ask = asking({ MX: daily(['America/Mexico_City', 'America/Tijuana'], '09:00-18:00') }, 'MX');
    // In winter: 09:00 in Tijuana is 17:00 UTC, 18:00 in the capital is 00:00 UTC.
    assert.equal(ask('2026-12-10T15:00Z'), utc('2026-12-10T17:00Z'));
    assert.equal(ask('2026-12-10T17:00Z'), 'open');
    assert.equal(ask('2026-12-10T23:59:59.999Z'), 'open');
    assert.equal(ask('2026-12-11T00:00Z'), utc('2026-12-11T17:00Z'));
    // In summer only Tijuana changes its clock.
    assert.equal(ask('2026-07-10T15:00Z'), utc('2026-07-10T16:00Z'));
  });

  it('a closed date is closed while it lasts in any zone', () => {
    const zones = ['America/New_York', 'Pacific/Honolulu'];
    const window = { ...daily(zones, '00:00-24:00'), closed_dates: ['2026-07-04'] };
    const ask = asking({ US: window }, 'US');
    assert.equal(ask('2026-07-04T03:59Z'), 'open');
    assert.equal(ask('2026-07-04T04:00Z'), utc('2026-07-05T10:00Z'));
    assert.equal(ask('2026-07-05T10:00Z'), 'open');
  });

  it('a day may have several open times, and single dates may be closed or open', () => {
    const siesta = daily(['Europe/Madrid'], '09:00-13:00', '16:00-20:00');
    const ask = asking(
      {
        ES: {
          ...siesta,
          hours: { ...siesta.hours, sunday: [] },
          closed_on_public_holidays: true,
          closed_dates: ['2026-12-24'],
          open_dates: { '2026-12-25': ['10:00-11:00'], '2026-12-27': ['10:30-11:00'] },
        },
      },
      'ES',
      holidays,
    );
    assert.equal(ask('2026-12-23T12:00Z'), utc('2026-12-23T15:00Z'));
    assert.equal(ask('2026-12-23T19:00Z'), utc('2026-12-25T09:00Z'));
    assert.equal(ask('2026-12-25T10:00Z'), utc('2026-12-26T08:00Z'));
    assert.equal(ask('2026-12-26T19:00Z'), utc('2026-12-27T09:30Z'));
  });

  it('the search ends after 60 days, with that time as the time to ask again', () => {
    const ask = asking({ CO: daily(['America/Bogota']) }, 'CO');
    const until = Date.parse(ask('2026-11-23T12:00Z'));
    assert.ok(until > Date.parse('2026-11-23T12:00Z') + 60 * DAY_MS);
    assert.ok(until <= Date.parse('2026-11-24T00:00Z') + 60 * DAY_MS);
  });
});

describe('against the wall clocks, minute by minute', () => {
  const PARTS = {
    hourCycle: 'h23',
    weekday: 'long',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  } as const;
  const clocks = new Map<string, Intl.DateTimeFormat>();

  /** The rule in its plain form: the wall clocks decide. */
  function isOpen(country: Country, window: CountryWindow, at: number): boolean {
    return window.zones.every((zone) => {
      const clock = clocks.get(zone) ?? new Intl.DateTimeFormat('en-US', { ...PARTS, timeZone: zone });
      clocks.set(zone, clock);
      const part = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, value]));
      const date = `${part.year}-${part.month}-${part.day}`;
      const time = `${part.hour}:${part.minute}`;
      const shut =
        window.closed_dates.includes(date) ||
        (window.closed_on_public_holidays && holidays(country, Number(part.year)).has(date));
      const weekday = part.weekday?.toLowerCase() as keyof typeof window.hours;
      const hours = window.open_dates[date] ?? (shut ? [] : window.hours[weekday]);
      return hours.some((text) => time >= text.slice(0, 5) && time < text.slice(6));
    });
  }

  const CL = { ...daily(['America/Santiago', 'Pacific/Easter'], '07:00-13:00', '15:00-21:30') };
  const rules: [Country, CountryWindow][] = [
    ['CO', DEFAULT_WINDOWS.CO as CountryWindow],
    ['CL', { ...CL, closed_on_public_holidays: true, hours: { ...CL.hours, sunday: ['10:00-12:00'] } }],
    ['US', daily(['America/New_York'], '01:15-01:45', '02:30-03:30', '23:00-24:00')],
    ['US', daily(['America/New_York', 'America/Los_Angeles', 'Pacific/Honolulu'], '06:00-20:00')],
    ['AU', daily(['Australia/Lord_Howe', 'Australia/Eucla'], '00:00-02:15', '22:00-24:00')],
    [
      'PY',
      {
        ...daily(['America/Asuncion'], '08:00-18:00'),
        closed_dates: ['2024-10-05', '2024-10-06', '2024-10-07'],
        open_dates: { '2024-03-24': ['00:00-00:30', '23:00-23:30'] },
      },
    ],
  ];
  const changes = [
    '2024-03-24',
    '2024-10-06',
    '2026-03-08',
    '2026-04-04',
    '2026-04-05',
    '2026-09-06',
    '2026-10-03',
    '2026-11-01',
  ];
  const instant = fc.oneof(
    fc.integer({ min: Date.parse('2024-01-01'), max: Date.parse('2029-01-01') }),
    fc
      .tuple(fc.constantFrom(...changes), fc.integer({ min: -DAY_MS, max: 2 * DAY_MS }))
      .map(([date, offset]) => Date.parse(date) + offset),
  );

  for (const [index, [country, window]] of rules.entries()) {
    it(`${country} (${index}): the state is open in open minutes, else until the first open minute`, () => {
      const ask = asking({ [country]: window }, country, holidays);
      fc.assert(
        fc.property(
          instant,
          fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { size: '+1' }),
          (at, dips) => {
            const answer = ask(new Date(at));
            assert.equal(answer === 'open', isOpen(country, window, at));
            if (answer === 'open') return;
            const until = Date.parse(answer);
            assert.equal(until % MINUTE_MS, 0);
            assert.ok(until > at && isOpen(country, window, until));
            assert.ok(!isOpen(country, window, until - 1));
            for (const dip of dips) {
              const earlier = Math.floor(at + dip * (until - 1 - at));
              assert.ok(!isOpen(country, window, earlier), new Date(earlier).toISOString());
            }
          },
        ),
        { numRuns: 300 },
      );
    });
  }
});

describe('the limit of a calendar day (D42)', () => {
  const limitOf = (rules: WindowRules, country: Country | null, instant: string | Date) => {
    const limit = dayLimit(contactWindows(rules, NO_HOLIDAYS), country, 'offer', new Date(instant));
    return limit && [limit.most, limit.since.toISOString()];
  };
  const in_ = (...zones: string[]): WindowRules => ({
    CO: { ...daily(zones, '00:00-24:00'), messages_a_day: 1 },
  });

  it("Colombia's is one, from midnight to midnight in Bogotá, by Ley 2300; other countries have none", () => {
    const [today, tomorrow] = [bogota('2026-03-04', '00:00'), bogota('2026-03-05', '00:00')];
    assert.deepEqual(limitOf(DEFAULT_WINDOWS, 'CO', today), [1, utc(today)]);
    assert.deepEqual(limitOf(DEFAULT_WINDOWS, 'CO', justBefore(tomorrow)), [1, utc(today)]);
    assert.deepEqual(limitOf(DEFAULT_WINDOWS, 'CO', tomorrow), [1, utc(tomorrow)]);
    for (const country of ['MX', 'BR', null] as const)
      assert.equal(limitOf(DEFAULT_WINDOWS, country, today), null);
  });

  it('a window without the number has none, and neither has a type that it does not bind', () => {
    assert.equal(limitOf({ CO: daily(['America/Bogota'], '00:00-24:00') }, 'CO', '2026-03-04T12:00Z'), null);
    const rejected = { CO: { ...in_('America/Bogota').CO!, message_types: ['rejected' as const] } };
    assert.equal(limitOf(rejected, 'CO', '2026-03-04T12:00Z'), null);
  });

  it('a day whose midnight is skipped begins at its first minute, and a day may have 23 or 25 hours', () => {
    const from = (zone: string, instant: string) => limitOf(in_(zone), 'CO', instant)?.[1];
    // Chile's clocks go from 24:00 on 5 September 2026 to 01:00, and from 24:00 on 4 April to 23:00.
    assert.equal(from('America/Santiago', '2026-09-06T12:00Z'), '2026-09-06T04:00:00.000Z');
    assert.equal(from('America/Santiago', '2026-09-07T02:59Z'), '2026-09-06T04:00:00.000Z');
    assert.equal(from('America/Santiago', '2026-04-05T03:59Z'), '2026-04-04T03:00:00.000Z');
    assert.equal(from('America/Santiago', '2026-04-05T04:00Z'), '2026-04-05T04:00:00.000Z');
  });

  it('in several zones the day counts that began first', () => {
    const zones = in_('America/Mexico_City', 'America/Tijuana');
    const mexico = '2026-01-10T06:00:00.000Z';
    assert.equal(limitOf(zones, 'CO', mexico)?.[1], '2026-01-09T08:00:00.000Z', 'Tijuana has yesterday');
    assert.equal(limitOf(zones, 'CO', '2026-01-10T08:00Z')?.[1], mexico);
  });

  it('begins where the date of the wall clock changes, in any zone at any time', () => {
    const zones = [
      'America/Bogota',
      'America/Santiago',
      'America/New_York',
      'Pacific/Kiritimati',
      'Asia/Kathmandu',
      'Pacific/Niue',
    ];
    const minutes = fc.integer({ min: Date.UTC(2020, 0) / MINUTE_MS, max: Date.UTC(2030, 0) / MINUTE_MS });
    fc.assert(
      fc.property(fc.constantFrom(...zones), minutes, (zone, minute) => {
        const dates = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
        const since = Date.parse(limitOf(in_(zone), 'CO', new Date(minute * MINUTE_MS))?.[1] as string);
        const date = dates.format(minute * MINUTE_MS);
        assert.ok(since <= minute * MINUTE_MS);
        assert.equal(dates.format(since), date);
        assert.notEqual(dates.format(since - 1), date);
      }),
    );
  });
});
