/** Numbers and spans of time as the page writes them in each language. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatOf, localeOf } from '../../console/src/format/formats.ts';

// By a name that the compiler does not follow: the page's files need the types of a browser.
const { durationText } = await import(String('../../console/src/queue/duration.ts'));

it('groups the digits of every number of four digits or more, in each language', () => {
  for (const [language, mark] of [
    ['en', ','],
    ['es', '.'],
    ['pt', '.'],
  ] as const) {
    const format = formatOf(language);
    assert.equal(format.number(6_694), `6${mark}694`, language);
    assert.equal(format.amount(6_500, 'MXN'), `MXN 6${mark}500`, language);
    assert.equal(format.wholeAmount(120_500, 'MXN'), `MXN 120${mark}500`, language);
    assert.equal(format.percent(12.5), `1${mark}250${language === 'es' ? '\u00a0' : ''}%`, language);
  }
});

it('writes numbers as the country of the browser does, where it tells one', () => {
  for (const [tags, written] of [
    [['es-MX', 'es', 'en-US'], '120,500'],
    [['es-CO'], '120.500'],
    [['es-419', 'es'], '120.500'],
    [['en-US'], '120.500'],
  ] as const) {
    assert.equal(formatOf('es', localeOf('es', tags)).number(120_500), written, tags.join());
  }
});

it('writes dates as the country of the browser does, each time with the zone of the machine', () => {
  for (const [language, tags, date] of [
    ['en', ['en-GB'], /^\d May 2026, /],
    ['en', ['en-US', 'en-GB'], /^May \d, 2026, /],
    ['en', ['de-DE'], /^May \d, 2026, /],
    ['es', ['es-CO'], /^\d de may de 2026, /],
    ['pt', ['en-GB', 'pt-BR'], /^\d de mai\. de 2026, /],
  ] as const) {
    const locale = localeOf(language, tags);
    const at = new Date('2026-05-03T16:04:00Z');
    const parts = new Intl.DateTimeFormat(locale, { timeZoneName: 'short' }).formatToParts(at);
    const zone = parts.find(({ type }) => type === 'timeZoneName')?.value;
    const written = formatOf(language, locale).time(at.toISOString());
    assert.match(written, date);
    assert.ok(zone !== undefined && written.endsWith(` ${zone}`), written);
  }
});

it('writes spans of time with the space that Spanish and Portuguese want', () => {
  const written = (language: string) => durationText(86_160_000, language);
  assert.deepEqual([written('en'), written('es'), written('pt')], ['23h 56m', '23 h 56 min', '23 h 56 min']);
});
