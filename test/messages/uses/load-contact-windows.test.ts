import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { DEFAULT_WINDOWS, windowState } from '../../../src/domain/message/contact-window.ts';
import { ToldError } from '../../../src/ground/base/told-error.ts';
import { checkContactWindows } from '../../../src/subjects/messages/uses/check-contact-windows.ts';
import { loadContactWindows } from '../../../src/subjects/messages/uses/load-contact-windows.ts';
import { loadPublicHolidays } from '../../../src/subjects/messages/uses/public-holidays.ts';

const folder = await mkdtemp(join(tmpdir(), 'ventanilla-windows-'));
after(() => rm(folder, { recursive: true }));

const NOW = new Date('2026-11-23T12:00Z');
const holidays = await loadPublicHolidays();
const CHILE = { zones: ['America/Santiago'], hours: { monday: ['09:00-13:00', '13:00-18:00'] } };

const check = (content: unknown) => checkContactWindows(content, 'w.json', holidays, NOW);

function refusal(content: unknown): string {
  try {
    check(content);
  } catch (error) {
    assert.ok(error instanceof ToldError, String(error));
    return error.message;
  }
  assert.fail(`accepted: ${JSON.stringify(content)}`);
}

/** This many successive dates from 2027-01-04, a Monday. */
const onEnd = (count: number) =>
  Array.from({ length: count }, (_, day) => new Date(Date.UTC(2027, 0, 4 + day)).toISOString().slice(0, 10));

describe('checkContactWindows', () => {
  it('the built-in windows pass as they are', () => {
    assert.deepEqual(check(structuredClone(DEFAULT_WINDOWS)), DEFAULT_WINDOWS);
    assert.deepEqual(check({}), {});
  });

  it('a part that is left out means: closed, no holidays, no dates, every message type', () => {
    const none = {
      monday: [],
      tuesday: [],
      wednesday: [],
      thursday: [],
      friday: [],
      saturday: [],
      sunday: [],
    };
    assert.deepEqual(check({ CL: CHILE }), {
      CL: {
        zones: ['America/Santiago'],
        hours: { ...none, monday: ['09:00-13:00', '13:00-18:00'] },
        closed_on_public_holidays: false,
        closed_dates: [],
        open_dates: {},
        message_types: ['approved', 'offer', 'rejected', 'reminder'],
        messages_a_day: null,
      },
    });
  });

  it('other valid windows pass', () => {
    const sound: object[] = [
      { zones: ['America/Santiago', 'Pacific/Easter'] },
      { hours: { sunday: ['00:00-24:00'] } },
      { closed_on_public_holidays: true },
      { closed_dates: ['2026-12-24', '2028-02-29'], open_dates: { '2026-12-27': ['10:00-12:00'] } },
      { closed_dates: onEnd(28) },
      { message_types: ['offer'] },
      { messages_a_day: 1 },
      { messages_a_day: 20 },
      { messages_a_day: null },
      // Applies to no message type, so it need not open.
      { message_types: [], hours: {} },
    ];
    for (const change of sound) check({ CL: { ...CHILE, ...change } });
  });

  it("Colombia's hours of one's own keep the number of its law (D42), and null lifts it", () => {
    const numberOf = (change: object) => check({ CO: { ...CHILE, ...change } }).CO?.messages_a_day;
    assert.deepEqual([{}, { messages_a_day: 3 }, { messages_a_day: null }].map(numberOf), [1, 3, null]);
  });

  it('a broken rule is refused with its place', () => {
    const broken: [change: object, place: string, rule: RegExp][] = [
      [{ zones: undefined }, 'CL', /zones/],
      [{ hours: undefined }, 'CL', /hours/],
      [{ surplus: 1 }, 'CL.surplus', /may stand there/],
      [{ zones: [] }, 'CL.zones', /fewer/],
      [{ zones: 'America/Santiago' }, 'CL.zones', /array/],
      [{ zones: ['America/Santiago', 'America/Atlantis'] }, 'CL.zones.1', /time zone/],
      [{ zones: [''] }, 'CL.zones.0', /time zone/],
      [{ hours: { lunes: [] } }, 'CL.hours.lunes', /may stand there/],
      [{ hours: { monday: '09:00-18:00' } }, 'CL.hours.monday', /array/],
      [{ hours: { monday: ['9:00-18:00'] } }, 'CL.hours.monday.0', /such as/],
      [{ hours: { monday: ['09:00-24:01'] } }, 'CL.hours.monday.0', /such as/],
      [{ hours: { monday: ['09:60-18:00'] } }, 'CL.hours.monday.0', /such as/],
      [{ hours: { monday: ['18:00-09:00'] } }, 'CL.hours.monday.0', /end after/],
      [{ hours: { monday: ['09:00-09:00'] } }, 'CL.hours.monday.0', /end after/],
      [{ hours: { friday: ['09:00-13:00', '12:59-18:00'] } }, 'CL.hours.friday.1', /or later/],
      [{ hours: { friday: ['14:00-18:00', '09:00-13:00'] } }, 'CL.hours.friday.1', /or later/],
      [{ closed_on_public_holidays: 'yes' }, 'CL.closed_on_public_holidays', /boolean/],
      [{ closed_dates: ['24-12-2026'] }, 'CL.closed_dates.0', /date such as/],
      [{ closed_dates: ['2026-12-24', '2026-02-30'] }, 'CL.closed_dates.1', /not a date/],
      [{ closed_dates: ['2027-02-29'] }, 'CL.closed_dates.0', /not a date/],
      [{ closed_dates: ['2026-12-24', '2026-12-24'] }, 'CL.closed_dates', /duplicate/],
      [{ open_dates: { '2026-13-01': ['09:00-10:00'] } }, 'CL.open_dates.2026-13-01', /not a date/],
      [{ open_dates: { tomorrow: ['09:00-10:00'] } }, 'CL.open_dates.tomorrow', /may stand there/],
      [{ open_dates: { '2026-12-27': [] } }, 'CL.open_dates.2026-12-27', /fewer/],
      [{ open_dates: { '2026-12-27': ['10:00-09:00'] } }, 'CL.open_dates.2026-12-27.0', /end after/],
      [
        { closed_dates: ['2026-12-27'], open_dates: { '2026-12-27': ['09:00-10:00'] } },
        'CL.closed_dates.0',
        /open_dates/,
      ],
      ...[0, 21, 1.5, '1'].map((number): [object, string, RegExp] => [
        { messages_a_day: number },
        'CL.messages_a_day',
        /from 1 to 20/,
      ]),
      [{ message_types: ['farewell'] }, 'CL.message_types.0', /approved, offer, rejected, reminder/],
      [{ message_types: ['offer', 'offer'] }, 'CL.message_types', /duplicate/],
      [{ hours: {} }, 'CL', /open .*within 30 days; from 2026-11-23/],
      [{ zones: ['America/Santiago', 'Asia/Tokyo'] }, 'CL', /open in all its zones/],
      [{ closed_dates: onEnd(31) }, 'CL', /open .*within 30 days/],
    ];
    for (const [change, place, rule] of broken) {
      const text = refusal(JSON.parse(JSON.stringify({ CL: { ...CHILE, ...change } })));
      assert.ok(text.startsWith(`CONTACT_WINDOWS_FILE w.json: ${place} `), `${place}: ${text}`);
      assert.match(text, rule);
    }
  });

  it('only countries have windows, and only known holidays can close one', () => {
    for (const code of ['XX', 'cl', 'CHL', '', '__proto__']) {
      const content = JSON.parse(`{ ${JSON.stringify(code)}: ${JSON.stringify(CHILE)} }`);
      assert.match(refusal(content), /w\.json: .*is not a country/);
    }
    const text = refusal({ FK: { ...CHILE, closed_on_public_holidays: true } });
    assert.match(text, /FK\.closed_on_public_holidays .*no public holidays are known/);
  });

  it('a value that is not an object of objects is refused', () => {
    for (const content of [null, 5, 'x', true, [], { CL: null }, { CL: [] }, { CL: 'x' }]) {
      assert.match(refusal(content), /w\.json: (the windows|CL) must be (an )?object/);
    }
  });
});

describe('loadPublicHolidays', () => {
  it('each date that a holiday touches counts: its eve, its days, its days in the next year', () => {
    const cases: [country: 'TR' | 'SZ' | 'CL', date: string, closed: boolean][] = [
      ['TR', '2026-03-18', false],
      ['TR', '2026-03-19', true],
      ['TR', '2026-03-22', true],
      ['SZ', '2026-12-30', true],
      ['SZ', '2027-01-02', true],
      // A holiday of the banks only.
      ['CL', '2026-12-31', false],
    ];
    for (const [country, date, closed] of cases) {
      assert.equal(holidays(country, Number(date.slice(0, 4))).has(date), closed, `${country} ${date}`);
    }
  });
});

describe('loadContactWindows', () => {
  const SUNDAY = new Date('2026-11-29T17:00Z');
  const file = async (name: string, content: unknown) => {
    const path = join(folder, name);
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };

  it('without a file Colombia has its window and no other country has one', async () => {
    const windows = await loadContactWindows(null, NOW);
    assert.deepEqual(windowState(windows, 'CO', 'rejected', SUNDAY), {
      open: false,
      until: new Date('2026-11-30T12:00Z'),
    });
    assert.deepEqual([...windows.keys()], ['CO']);
  });

  it('a file replaces the windows of the countries in it and leaves the others', async () => {
    const mine = await loadContactWindows(await file('cl.json', { CL: CHILE }), NOW);
    assert.equal(windowState(mine, 'CO', 'offer', SUNDAY).open, false);
    assert.equal(windowState(mine, 'CL', 'offer', SUNDAY).open, false);
    const always = { zones: ['America/Bogota'], hours: {}, message_types: [] };
    const lifted = await loadContactWindows(await file('co.json', { CO: always }), NOW);
    assert.equal(windowState(lifted, 'CO', 'offer', SUNDAY).open, true);
  });

  it('the example in the document is valid', async () => {
    const page = await readFile(join(import.meta.dirname, '../../../docs/contact-windows.md'), 'utf8');
    const [, example = ''] = /```json\n(.*?)```/s.exec(page) ?? [];
    await loadContactWindows(await file('example.json', example), NOW);
  });

  it('names the file that is missing, is not JSON or breaks a rule', async () => {
    const bad = [
      join(folder, 'missing.json'),
      folder,
      await file('text.json', 'not json'),
      await file('empty.json', ''),
      await file('twice.json', JSON.stringify({ CL: CHILE }).replace('{', '{"CL":{},')),
      await file('rule.json', { CL: { ...CHILE, zones: ['Mars/Olympus'] } }),
    ];
    for (const path of bad) {
      await assert.rejects(loadContactWindows(path, NOW), (error: Error) => {
        assert.ok(error instanceof ToldError && error.message.includes(path), error.message);
        return true;
      });
    }
  });
});
