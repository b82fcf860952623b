import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Language } from '../../src/ground/base/language.ts';
import { chooseLanguage, languageOfHeader } from '../../src/wire/contract/texts.ts';

const TABLE: [string | undefined, Language][] = [
  // With and without a region, in any capitalisation.
  [undefined, 'en'],
  ['', 'en'],
  ['es', 'es'],
  ['en', 'en'],
  ['ES', 'es'],
  ['es-CO', 'es'],
  ['es-419', 'es'],
  ['ES-mx', 'es'],
  ['en-US', 'en'],
  ['es-Latn-CO', 'es'],
  // Both languages: the q-values decide, not the order. Equal values give English.
  ['es,en', 'en'],
  ['en,es', 'en'],
  ['es;q=1,en;q=1.0', 'en'],
  ['es,en;q=0.9', 'es'],
  ['en;q=0.9,es', 'es'],
  ['en,es;q=0.9', 'en'],
  ['es;q=0.9,en', 'en'],
  ['es;q=0.501,en;q=0.5', 'es'],
  ['es;q=0.5,en;q=0.501', 'en'],
  ['es-CO,es;q=0.9,en;q=0.8', 'es'],
  ['es-CO,en-US;q=0.9', 'es'],
  ['en-US,en;q=0.9,es;q=0.8', 'en'],
  ['fr-CH, fr;q=0.9, es;q=0.8, en;q=0.7, *;q=0.5', 'es'],
  ['es ; q=0.4 , en ; q=0.3', 'es'],
  ['es;Q=0.4,en;Q=0.3', 'es'],
  // The best range of a language counts.
  ['es;q=0.1,es-CO;q=0.9,en;q=0.5', 'es'],
  ['es;q=0.5,en;q=0.1,en-GB;q=0.9', 'en'],
  // Neither language, or a refused language.
  ['fr', 'en'],
  ['fr,de;q=0.5', 'en'],
  ['es;q=0', 'en'],
  ['es;q=0,en;q=0', 'en'],
  ['es;q=0.000', 'en'],
  ['en;q=0,es;q=0.001', 'es'],
  // The wildcard stands for every language without a range of its own.
  ['*', 'en'],
  ['*;q=0.5', 'en'],
  ['es,*;q=0.5', 'es'],
  ['*,es;q=0.5', 'en'],
  ['en;q=0.5,*', 'es'],
  ['en;q=0,*', 'es'],
  ['en,*;q=0.5', 'en'],
  // A range that only begins with the same letters is another language.
  ['est', 'en'],
  ['esu-CO', 'en'],
  ['x-es', 'en'],
  ['fr-ES', 'en'],
  // A malformed header prefers no language.
  [',', 'en'],
  [';;;', 'en'],
  ['q=1', 'en'],
  ['es;q=', 'en'],
  ['es;q=x', 'en'],
  ['es;q=2', 'en'],
  ['es;q=-1', 'en'],
  ['es;q=1e3', 'en'],
  ['es;q=0.1234', 'en'],
  ['es;q=Infinity', 'en'],
  ['\u0000', 'en'],
  ['español', 'en'],
  [`${'x,'.repeat(5_000)}es`, 'es'],
];

describe('languageOfHeader', () => {
  it('D24: the language is Spanish where Accept-Language prefers es over en, else English', () => {
    for (const [header, language] of TABLE) {
      assert.equal(languageOfHeader(header), language, JSON.stringify(header)?.slice(0, 80));
    }
  });

  it('D24: the order of the ranges and other languages change nothing', () => {
    const q = fc.integer({ min: 0, max: 1_000 });
    fc.assert(
      fc.property(q, q, q, fc.boolean(), (es, en, fr, turned) => {
        const ranges = [`es;q=${es / 1_000}`, `en;q=${en / 1_000}`, `fr;q=${fr / 1_000}`];
        if (turned) ranges.reverse();
        assert.equal(languageOfHeader(ranges.join(',')), es > en ? 'es' : 'en');
      }),
    );
  });

  it('D24: any header gives one of the two languages', () => {
    fc.assert(
      fc.property(fc.string(), (header) => assert.ok(['en', 'es'].includes(languageOfHeader(header)))),
    );
  });
});

describe('chooseLanguage', () => {
  it('D24: a pinned key wins over the request; with auto the request decides', () => {
    for (const requested of ['en', 'es'] as const) {
      assert.equal(chooseLanguage('auto', requested), requested);
      assert.equal(chooseLanguage('en', requested), 'en');
      assert.equal(chooseLanguage('es', requested), 'es');
    }
  });
});
