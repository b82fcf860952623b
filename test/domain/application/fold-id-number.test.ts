/** D49: ID numbers are compared by their letters and digits alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { foldIdNumber } from '../../../src/domain/application/fold-id-number.ts';

const TYPES = [
  ...['CC', 'CE', 'TI', 'PPT', 'NIT', 'DNI', 'CUIL', 'CUIT', 'RUT'],
  ...['RUN', 'CPF', 'RG', 'CURP', 'RFC', 'INE', 'CI', 'PAS'],
];
/** Spaces (no-break, narrow, ideographic, zero-width), dashes of each kind, marks of direction, and signs. */
const SEPARATORS = [
  ...[' ', '\u00a0', '\u2007', '\u202f', '\u3000', '\u200b', '\u200e', '\u2060', '\ufeff', '\t'],
  ...[
    '-',
    '\u00ad',
    '\u2010',
    '\u2011',
    '\u2012',
    '\u2013',
    '\u2014',
    '\u2015',
    '\u2212',
    '\ufe63',
    '\uff0d',
  ],
  ...[
    '.',
    '\uff0e',
    '\u00b7',
    '\u2022',
    ',',
    '/',
    '\\',
    ':',
    '#',
    "'",
    '\u2019',
    '_',
    '(',
    ')',
    '\u00b0',
    '*',
  ],
];

/** Each line: spellings of one person, and the form in which they are compared. */
const ONE: readonly (readonly [string, ...string[]])[] = [
  [
    '1077345210',
    '1.077.345.210',
    '1077345210',
    '1 077 345 210',
    'CC 1077345210',
    'CC1077345210',
    'C.C. 1077345210',
  ],
  [
    '1077345210',
    'cc. 1077345210',
    'c.c.1.077.345.210',
    'CC-1077345210',
    'CC: 1 077 345 210',
    'C C 1077345210',
  ],
  [
    '1077345210',
    '１０７７３４５２１０',
    '１．０７７．３４５．２１０',
    '1\u00a0077\u00a0345\u00a0210',
    '\u200e1077345210',
  ],
  [
    '1077345210',
    '1\u2011077\u2013345\u2014210',
    "1'077'345'210",
    'ＣＣ １０７７３４５２１０',
    'CC CC 1077345210',
  ],
  ['0012345678', '0012345678', '00-12345678', 'DNI 0012345678', '0 0 1 2 3 4 5 6 7 8'],
  ['12345678K', '12.345.678-K', '12345678-k', 'RUT 12.345.678-K', 'rut12345678k', 'RUN: 12.345.678-k'],
  ['12345678909', '123.456.789-09', 'CPF 123.456.789-09', 'CPF123.456.789-09'],
  ['20301112223', '20-30111222-3', 'CUIL 20-30111222-3', 'CUIT:20301112223'],
  ['30111222', '30.111.222', 'D.N.I. 30.111.222', 'dni30111222'],
  [
    'INEX800101HDFRRN09',
    'INEX800101HDFRRN09',
    'inex800101hdfrrn09',
    'CURP INEX800101HDFRRN09',
    'CURP: INEX-800101-HDFRRN-09',
  ],
  ['CIMA800101AB1', 'CIMA800101AB1', 'CIMA-800101-AB1', 'RFC CIMA800101AB1', 'R.F.C. CIMA 800101 AB1'],
  ['RUTA800101AB1', 'ruta800101ab1', 'RUTA 800101 AB1', 'RFC-RUTA800101AB1'],
  ['X800101', 'INE-X800101', 'INE X800101'],
  ['140404NI0', 'INE140404NI0', 'RFC INE140404NI0', 'RFC: INE-140404-NI0'],
  ['AB123456', 'PAS AB123456', 'PAS-AB-123456', 'ab 123456'],
  ['PASAPORTE1', 'PASAPORTE 1', 'pasaporte-1'],
  ['ÑANDÚ1', 'ñandú 1', 'n\u0303andu\u0301-1'],
];

/** Nothing is left of these, so that each is compared as it was sent. */
const NOBODY = [
  ...[
    '---',
    '--',
    '...',
    '-',
    '—',
    '***',
    'CC',
    'cc',
    'C.C.',
    'CC-',
    'CC:',
    'CI',
    'CE',
    'RFC',
    'RFC INE',
    'DNI/CI',
  ],
];

const between = fc.string({ unit: fc.constantFrom(...SEPARATORS), maxLength: 4 });
const aNumber = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...'0123456789ABCEIKNRTUX'), minLength: 1, maxLength: 18 }),
);
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom(...TYPES, ...SEPARATORS, '0', '7', 'A', 'k', 'ᄀ', 'ᅡ', 'ß', 'ǆ', 'ͅ'),
    maxLength: 12,
  }),
);

describe('the fold of ID numbers (D49)', () => {
  for (const [folded, ...spellings] of ONE) {
    it(`one person: ${folded}`, () => {
      for (const spelling of spellings) assert.equal(foldIdNumber(spelling), folded, spelling);
    });
  }

  it('leading zeros count, and so do letters that no separator or digit tells from a type', () => {
    const numbers = [
      '012345678',
      '12345678',
      'INEX800101',
      'X800101',
      'CIA12',
      'A12',
      'RGB1',
      'B1',
      'CEDULA1',
      'CC1CC',
    ];
    assert.equal(new Set(numbers.map(foldIdNumber)).size, numbers.length);
  });

  it('nothing is left but a type or separators: such texts are compared as they were sent, and are not one', () => {
    for (const text of NOBODY) assert.equal(foldIdNumber(text), text);
  });

  it('separators of each kind, between and around, say nothing', () => {
    fc.assert(
      // A separator behind the letters of a type makes a type of them, so the number begins with a digit.
      fc.property(
        fc.nat(9),
        aNumber,
        fc.array(between, { minLength: 20, maxLength: 20 }),
        (first, rest, gaps) => {
          const number = `${first}${rest}`;
          const spelled = [...number].map((character, n) => gaps[n] + character).join('') + gaps.at(-1);
          assert.equal(foldIdNumber(spelled), number);
        },
      ),
    );
  });

  it('a type before a number says nothing, however it is written', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 12 });
    const aType = fc
      .tuple(fc.constantFrom(...TYPES), fc.boolean(), fc.boolean())
      .map(([type, small, dotted]) => {
        const written = small ? type.toLowerCase() : type;
        return dotted ? [...written].map((letter) => `${letter}.`).join('') : written;
      });
    fc.assert(
      fc.property(aType, between, digits, (type, gap, number) => {
        assert.equal(foldIdNumber(type + gap + number), number);
      }),
    );
  });

  it('full-width letters and digits are those of ASCII', () => {
    const wide = (text: string) =>
      [...text].map((character) => String.fromCodePoint(character.codePointAt(0)! + 0xfee0)).join('');
    fc.assert(
      fc.property(fc.nat(9), aNumber, (first, rest) => {
        const number = `${first}${rest}`;
        assert.equal(foldIdNumber(wide(number)), number);
        assert.equal(foldIdNumber(`ＣＣ${wide(number)}`), number);
      }),
    );
  });

  it('the short ways for common texts fold as the whole way does', () => {
    const common = fc.string({ unit: fc.constantFrom(...'0123456789ABCEIKNPRTUXS .-'), maxLength: 8 });
    fc.assert(
      fc.property(
        fc.oneof(
          common,
          fc.tuple(fc.constantFrom(...TYPES), common).map((two) => two.join('')),
        ),
        (text) => {
          // A character that nobody sees is a separator, and takes the whole way.
          const spelled = `\u200b${text}`;
          const whole = foldIdNumber(spelled);
          assert.equal(foldIdNumber(text), whole === spelled ? text : whole);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('folding twice changes nothing, whatever the text is', () => {
    fc.assert(
      fc.property(anyText, (text) => assert.equal(foldIdNumber(foldIdNumber(text)), foldIdNumber(text))),
      { numRuns: 500 },
    );
  });

  it('a text is folded to letters and digits, or is left as it is', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const folded = foldIdNumber(text);
        assert.ok(folded === text || /^[\p{L}\p{Nd}]+$/u.test(folded));
      }),
      { numRuns: 500 },
    );
  });
});
