/** Numbers as the page writes them in each language. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatOf } from '../../console/src/formats.ts';

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
