/** What a spreadsheet's format shows of a number (ECMA-376, part 1, 18.8.31). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cpuMsOf } from '../../../../test/support/cpu-time.ts';
import type { ConvertedRow } from '../../src/map/convert.ts';
import { PESO_OR_DOLLAR } from '../../src/read/currency-words.ts';
import { builtInFormat, formatOf, type Section, shownText } from '../../src/read/xlsx/number-format.ts';
import { allOf, applicant, fileOf, type SheetCell, sourceOf, workbookOf } from '../files.ts';

const kindOf = ({ kind }: Section) => kind;

const CODES: readonly (readonly [kind: Section['kind'], codes: readonly string[]])[] = [
  [
    'number',
    [
      '', 'General', 'GENERAL', '@', '0', '#', '#,##0', '#,##0.00', '0.00;[Red]-0.00', '# ##0', '#\\ ##0', '"USD" 0', '[Red]0',
      '[Color10]0', '"S/" #,##0.00', '[$S/-280A] #,##0', '[$COP] #,##0', '#,##0\\ [$€-2]', '[$R$-416]\\ #,##0.00', '[$-409]0',
      '_-"$"\\ * #,##0.00_-;\\-"$"\\ * #,##0.00_-;_-"$"\\ * "-"??_-;_-@_-', '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)',
      '$#,##0;-$#,##0', '"US$"0', '"COL$" 0', '0_)', '[$L-480A] 0', 'General;-General', '[$MXN$] 0', '[Color 10]0', '[$-10409]#,##0.00;\\-#,##0.00', '_ * #,##0.00_ ;_ * \\-#,##0.00_ ', '0_ ;[Red]\\-0\\ ',
    ],
  ],
  [
    'text',
    [
      '"CC "0', '"57"0', '\\+57 0', '+0', '000\\-0000', '(000) 000-0000', '0"000"', '0",000"', '0"M"', '0" mil"', '"MM$"0',
      'General" kg"', '##\\.###\\.###\\-#', '0\\.00', '"Sí"', '-0', '0%%'.slice(0, 1).concat('"%"'), '[$K] 0', '0" K"',
    ],
  ],
  ['date', ['d/m/yy', '[h]:mm', '[$-409]mmmm', 'dd\\-mm', 'yyyy', '[$-F800]dddd\\,\\ mmmm\\ dd', 'mm:ss.0', '"x"d', 'e']],
  ['percentage', ['0%', '0.00%', '#,##0 %']],
  [
    'other',
    [
      '0.00E+00', '##0.0E+0', '0,', '#,##0.0,,', '0.0,,"M"', '# ?/?', '# ??/16', ';;;', '""', '#,##0",000"', '#,##0" kg"',
      '0.00"5"', '[>=1000]0;0.0', '[<=9999999]###\\-####;\\(###\\)\\ ###\\-####', '[DBNum1]0', '[=1]"Sí";[=0]"No"', '.00',
      `0${'"'.repeat(300)}`, '0'.repeat(256),
    ],
  ],
]; // biome-ignore format: one table

test('a format is judged by what it shows of the number', () => {
  for (const [kind, codes] of CODES)
    for (const code of codes) assert.equal(kindOf(formatOf(code).positive), kind, code.slice(0, 60));
});

test('a format names the currency of its amounts, or none', () => {
  const PESOS = PESO_OR_DOLLAR.codes.join(' ');
  const named: [code: string, currencies: string | null][] = [
    ['#,##0', null], ['$#,##0', PESOS], ['[$$-240A] #,##0.00', PESOS], ['[$$-409]#,##0', PESOS],
    ['_-"$"\\ * #,##0.00_-', PESOS],
    ['"USD" #,##0', 'USD'], ['[$USD] #,##0', 'USD'], ['[$US$-409]#,##0.00', 'USD'], ['"US$"0', 'USD'], ['0 "usd"', 'USD'],
    ['[$MXN$] #,##0', 'MXN'], ['[$COP] 0', 'COP'], ['"COL$" 0', 'COP'], ['[$R$-416]\\ #,##0.00', 'BRL'], ['"S/" 0', 'PEN'],
    ['[$S/.-280A] 0', 'PEN'], ['#,##0\\ [$€-2]', 'EUR'], ['[$L-480A] 0', 'HNL'], ['"Q"#,##0.00', 'GTQ'], ['"Bs" 0', 'BOB VES'],
    ['"C$" 0', 'NIO CAD'], ['"$" 0 "USD"', 'USD'], ['"Bs" 0 "VES"', 'VES'],
  ]; // biome-ignore format: one table
  for (const [code, currencies] of named) {
    const { positive } = formatOf(code);
    assert.ok(positive.kind === 'number', code);
    assert.equal(positive.currency?.codes.join(' ') ?? null, currencies, code);
  }
  // Two currencies, and words that are none.
  for (const code of ['"USD" 0 "COP"', '"TOP" 0', '"XYZ$" 0', '"mil" 0'])
    assert.equal(kindOf(formatOf(code).positive), 'text', code);
});

test('each sign of a number has its section', () => {
  const { positive, negative, zero } = formatOf('0;"x"0;"none"');
  assert.deepEqual([positive, negative, zero].map(kindOf), ['number', 'text', 'text']);
  const two = formatOf('#,##0;;');
  assert.deepEqual([two.positive, two.negative].map(kindOf), ['number', 'other']);
});

test('formats without a code are dates, percentages and shortened numbers as ECMA-376 lists them', () => {
  const kinds: [ids: number[], kind: string][] = [
    [[0, 1, 2, 3, 4, 5, 8, 37, 40, 44, 49, 59, 163], 'number'],
    [[9, 10, 67], 'percentage'],
    // From 164 on formats are the file's own, and need a code.
    [[11, 12, 13, 48, 164, 9999, Number.NaN], 'other'],
    [[14, 22, 27, 36, 45, 47, 50, 58, 71, 81], 'date'],
  ];
  for (const [ids, kind] of kinds)
    for (const id of ids) assert.equal(kindOf(builtInFormat(id).positive), kind, String(id));
});

test('digits are shown in their places, from the right', () => {
  const shown: [code: string, value: number, text: string][] = [
    ['(000) 000-0000', 3005550101, '(300) 555-0101'], ['\\+57 0', 3005550101, '+57 3005550101'],
    ['\\+00 000 000 0000', 573005550101, '+57 300 555 0101'], ['000\\-0000', 15, '000-0015'], ['"CC "0', 0, 'CC 0'],
    ['##\\.###\\.###\\-#', 123456785, '12.345.678-5'], ['0",000"', 1500, '1500,000'], ['"57"0', 3005550101, '573005550101'],
    ['000\\-00', 1234567, '12345-67'], ['"x"??', 5, 'x 5'], ['General" kg"', 70, '70 kg'], ['(###) ###', 12, '() 12'],
  ]; // biome-ignore format: one table
  for (const [code, value, text] of shown) {
    const { positive, zero } = formatOf(code);
    const section = value === 0 ? zero : positive;
    assert.ok(section.kind === 'text', code);
    assert.equal(shownText(section.parts, value), text, code);
  }
});

test('any code is judged', () => {
  const signs = fc.constantFrom(...'0#?.,;%@"\\_*[]$-+/E() dx57', 'General', '[Red]', '[$COP]', '"CC"', 'M');
  fc.assert(
    fc.property(fc.array(signs, { maxLength: 12 }), (list) => {
      const { positive } = formatOf(list.join(''));
      if (positive.kind === 'text') assert.equal(typeof shownText(positive.parts, 1234), 'string');
    }),
    { numRuns: 2000 },
  );
});

test('a format of eight million characters, used by many styles, takes no more time than its bytes', async () => {
  const code = '[$'.repeat(4_000_000);
  const styles = [
    '<styleSheet><numFmts><numFmt numFmtId="200" formatCode="',
    code,
    `"/></numFmts><cellXfs>${'<xf numFmtId="200"/>'.repeat(300_000)}</cellXfs></styleSheet>`,
  ].join('');
  const header = Object.keys(applicant()).map((value): SheetCell => ({ type: 'inlineStr', value }));
  const row = header.map((): SheetCell => ({ value: '5', style: 7 }));
  const book = workbookOf([header, row], { more: { 'xl/styles.xml': styles } });
  assert.ok(book.length < 100_000);
  let converted: ConvertedRow | undefined;
  const took = await cpuMsOf(async () => {
    [converted] = await allOf((await sourceOf(fileOf('a.xlsx', book))).convertedRows());
  });
  // About half a second.
  assert.ok(took < 20_000, `${took} ms of CPU`);
  assert.match(converted?.faults[0]?.text.en ?? '', /its format shows in another form/);
});
