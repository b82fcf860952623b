/**
 * A value that a spreadsheet changed is recognised where its meaning is certain, or its row is refused; such a value is
 * never sent (D7, D8, D10, D11, D12).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allOf, applicant, csvOf, fileOf, PLAIN, type SheetCell, sourceOf, workbookOf } from '../files.ts';

type Typed = string | number | boolean;
const REFUSED = Symbol('refused');
/** The value that is sent, or a fault. */
type Outcome = string | number | boolean | typeof REFUSED;

/** Rows that differ in one field each, as they would be sent. */
async function converted(path: string, options = {}) {
  const source = await sourceOf(path, { conversion: PLAIN.conversion, ...options });
  return allOf(source.convertedRows());
}

async function assertOutcomes(field: string, table: readonly (readonly [typed: Typed, outcome: Outcome])[]) {
  const list = table.map(([typed]) => applicant({ [field]: typed }));
  const files = [fileOf('a.json', JSON.stringify(list))];
  if (table.every(([typed]) => typeof typed === 'string')) files.push(fileOf('a.csv', csvOf(list)));
  for (const path of files) {
    const rows = await converted(path);
    for (const [index, [typed, outcome]] of table.entries()) {
      const { application, faults } = rows[index] ?? assert.fail();
      const what = `${field} ${JSON.stringify(typed)} ${path.slice(-5)}`;
      assert.deepEqual(
        faults.map((fault) => fault.field),
        outcome === REFUSED ? [field] : [],
        what,
      );
      assert.equal(application[field], outcome === REFUSED ? undefined : outcome, what);
    }
  }
}

const LEFTOVERS = [
  '#N/A', '#n/a', '#N/D', '#REF!', '#¡REF!', '#¿NOMBRE?', '#NAME?', '#NOM?', '#NOME?', '#VALUE!', '#¡VALOR!', '#VALEUR!', '#WERT!',
  '#DIV/0!', '#¡DIV/0!', '#NUM!', '#NÚM!', '#¡NUM!', '#NULL!', '#¡NULO!', '#NV', '#BEZUG!', '#SPILL!', '#¡DESBORDAMIENTO!', '#DESPEJAR!',
  '#CALC!', '#GETTING_DATA', '#ERROR!', '#Â¡REF!', '#空!', '####', '########', '#?', '#? 12', 'Err:502', 'Err :522', 'Fehler:502',
  'nan', 'NaN', 'NAN', '-nan', ' nan ', 'None', 'null', 'NULL', '(null)', '\\N', 'NA', 'N/A', 'n/a', '<NA>', 'NaT', 'undefined', 'inf',
  '-inf', 'Infinity', '[object Object]', 'Loading...', 'Cargando...', '=A1', '=SUM(A1:A3)', '=+57300', '="a"&B1',
]; // biome-ignore format: one list
const ALL_FIELDS = [
  'name', 'id_number', 'city', 'phone', 'platform', 'currency', 'income', 'debt_amount', 'num_debts', 'debt_age',
  'prior_history', 'messaging_optin',
]; // biome-ignore format: one list

test('an error of a spreadsheet, a word for no value or a formula is refused in every field', async () => {
  for (const field of ALL_FIELDS)
    await assertOutcomes(
      field,
      LEFTOVERS.map((typed) => [typed, REFUSED] as const),
    );
});

test('the fault of an error word says what to do, and does not quote the cell', async () => {
  const [row] = await converted(fileOf('a.csv', csvOf([applicant({ city: '#¡REF!' })])));
  assert.match(
    row?.faults[0]?.text.en ?? '',
    /error of a spreadsheet or a word for no value.*correct the cell or leave it empty/,
  );
  assert.doesNotMatch(row?.faults[0]?.text.en ?? '', /REF/);
});

test('words that only look like leftovers are values', async () => {
  await assertOutcomes(
    'name',
    ['Nana Ruiz', 'Jennifer Null', 'Ana Nan', "'t Hooft", 'Infinita Paz'].map((one) => [one, one] as const),
  );
  await assertOutcomes(
    'city',
    [
      '9 de Julio',
      '25 de Mayo',
      'Bogotá D.C.',
      'Nariño',
      'Trujillo',
      'Mar del Plata',
      '3 de Febrero',
      'Santa Fe 2',
    ].map((one) => [one, one] as const),
  );
  await assertOutcomes(
    'id_number',
    [
      '#1020304050',
      'A-123',
      'V-12345678',
      '1.020.304.050',
      '12.345.678-5',
      '8-123-456',
      '123E4567',
      '0',
      '001020304050',
      'PE-0123-45678',
    ].map((one) => [one, one] as const),
  );
  await assertOutcomes(
    'phone',
    [
      '+57 300 555 0101',
      '300.555.0101',
      '(300) 555-0101',
      '0057 3005550101',
      '300.5550101',
      '2222.3333',
      '2245-3344',
      '+573000000000',
    ].map((one) => [one, one] as const),
  );
  await assertOutcomes(
    'platform',
    ['99', 'rappi', 'Uber 2', 'Notion'].map((one) => [one, one] as const),
  );
});

const DIGITS: readonly (readonly [typed: Typed, id: Outcome, phone: Outcome])[] = [
  ['573005550101.0', '573005550101', '573005550101'], ['573005550101,0', '573005550101', '573005550101'],
  ['573005550101.00', '573005550101', '573005550101'], ['+573005550101.0', '+573005550101', '+573005550101'],
  ['1020304050.0', '1020304050', '1020304050'], ['1020304050,000000', '1020304050', '1020304050'],
  ['1.02030405E9', REFUSED, REFUSED], ['1,02030405E+09', REFUSED, REFUSED], ['1.020304050E9', '1020304050', '1020304050'],
  ['1,020304051E+09', '1020304051', '1020304051'], ['5,73005E+11', REFUSED, REFUSED], ['5.73005550101E11', '573005550101', '573005550101'],
  ['5.73005550101e+11', '573005550101', '573005550101'], ['1,02E+09', REFUSED, REFUSED], ['5E+11', REFUSED, REFUSED],
  ['1.5e-5', REFUSED, REFUSED], ['12.5E+8', REFUSED, REFUSED],
  ['1,020,304,050', '1020304050', '1020304050'], ['1,020,304,000', '1020304000', '1020304000'],
  ['1.020.304.050,00', '1020304050', '1020304050'], ['1\u202f020\u202f304\u202f050', '1020304050', '1020304050'],
  ['0.0', REFUSED, REFUSED], ['573005550101.5', REFUSED, REFUSED], ['573005550101.25', REFUSED, REFUSED], ['1,500', REFUSED, REFUSED],
  ['300.000', REFUSED, REFUSED], ['300.0000000', REFUSED, REFUSED], ['57 3005550101.0', REFUSED, REFUSED],
  ['CC 1020304050.0', REFUSED, REFUSED],
  ['-573005550101', REFUSED, REFUSED], ['-899', REFUSED, REFUSED], ['$1020304050', REFUSED, REFUSED], ['5%', REFUSED, REFUSED],
  ['2024-01-05', REFUSED, REFUSED], ['2012-12-05 00:00:00', REFUSED, REFUSED], ['05/01/2024', REFUSED, REFUSED],
  ['05-01-2024', REFUSED, REFUSED], ['05.01.2024', REFUSED, REFUSED], ['6/12', REFUSED, REFUSED], ['12-jun', REFUSED, REFUSED],
  ['ene-24', REFUSED, REFUSED], ['5-Jan-2024', REFUSED, REFUSED], ['10:30', REFUSED, REFUSED],
  ['VERDADERO', REFUSED, REFUSED], ['true', REFUSED, REFUSED],
  ["'573005550101", '573005550101', '573005550101'], ['="573005550101"', '573005550101', '573005550101'],
  ['="001020304050"', '001020304050', '001020304050'], ['="573005550101.0"', '573005550101', '573005550101'],
  ['\u202a+573005550101\u202c', '+573005550101', '+573005550101'], ['573005550101\u200b.0', '573005550101', '573005550101'],
  ['1234567890123450', REFUSED, REFUSED], ['1234567890123450000', REFUSED, REFUSED], ['573005000000.0', REFUSED, REFUSED],
  ['1020000000.0', REFUSED, REFUSED], ['5.73005000000E11', REFUSED, REFUSED],
  [573005550101, '573005550101', '573005550101'], [573005550101.5, REFUSED, REFUSED], [573005000000, REFUSED, REFUSED],
  [-899, REFUSED, REFUSED], [0, REFUSED, REFUSED], [1234567890123456, REFUSED, REFUSED], [1e21, REFUSED, REFUSED], [true, REFUSED, REFUSED],
]; // biome-ignore format: one table

test('an ID number or a phone that a program wrote as a number is read where all digits are certain, else refused', async () => {
  for (const [typed, id, phone] of DIGITS) {
    await assertOutcomes('id_number', [[typed, id]]);
    await assertOutcomes('phone', [[typed, phone]]);
  }
  await assertOutcomes('phone', [['300.0', REFUSED]]);
  await assertOutcomes('id_number', [
    ['300.0', '300'],
    ['1234567890123456', '1234567890123456'],
  ]);
});

test('whatever number a program writes, the digits that are sent are its digits (D11)', async () => {
  const number = fc.integer({ min: 1_000_000, max: 10 ** 15 - 1 });
  const forms: ((value: number) => string)[] = [
    (value) => `${value}.0`,
    (value) => `${value},00`,
    (value) => value.toExponential().replace('e+', 'E'),
    (value) => value.toExponential(5).toUpperCase().replace('.', ','),
    (value) => value.toExponential(2),
    (value) => value.toExponential(14),
    (value) => value.toLocaleString('en-US'),
    (value) => value.toLocaleString('en-US', { minimumFractionDigits: 2 }),
    (value) => value.toLocaleString('de-DE', { minimumFractionDigits: 1 }),
    (value) => `'${value}`,
    (value) => `="${value}"`,
    (value) => `${value}.5`,
    (value) => `-${value}`,
  ];
  const values = fc.sample(number, 200);
  const list = values.flatMap((value) =>
    forms.map((form) => applicant({ id_number: form(value), phone: form(value) })),
  );
  const rows = await converted(fileOf('a.json', JSON.stringify(list)));
  for (const [index, { application }] of rows.entries()) {
    const value = String(values[Math.floor(index / forms.length)]);
    for (const sent of [application.id_number, application.phone])
      assert.ok(sent === undefined || sent === value, `${list[index]?.phone} was sent as ${sent}`);
  }
});

test('zeros at the end of a number are right where the person says so', async () => {
  for (const field of ['id_number', 'phone'])
    for (const [typed, sent] of [
      ['573005000000', REFUSED], [' 573005000000 ', REFUSED], ["'573005000000", '573005000000'], ['="573005000000"', REFUSED],
      ['+573005000000', '+573005000000'], ['1020000000', REFUSED], ["'1020000000", '1020000000'], ['1020300000', '1020300000'],
    ] as const) await assertOutcomes(field, [[typed, sent]]); // biome-ignore format: one table
  const text: SheetCell = { type: 'inlineStr', value: '573005000000' };
  const [typed, number] = await converted(sheetWith('phone', [text, { value: '573005000000' }], []));
  assert.equal(typed?.application.phone, '573005000000');
  assert.match(
    number?.faults[0]?.text.en ?? '',
    /format the column as text.*apostrophe before the number in a CSV/,
  );
});

test('a number, a date or a word for true or false is no name and no city', async () => {
  const wrong: Typed[] = [
    '12345', '1.500,50', '$ 1.500', '50%', '2024-01-05', '5/01/2024', '12-jun', 'ene-24', '1E+09', '-5', '(1,500)', '10:30', 'VERDADERO',
    'FALSE', 12345, 0, true,
  ]; // biome-ignore format: one list
  for (const field of ['name', 'city'])
    await assertOutcomes(
      field,
      wrong.map((typed) => [typed, REFUSED] as const),
    );
});

test('amounts and numbers of debts as programs write them are read, or refused where they are cut', async () => {
  await assertOutcomes('income', [
    ['3200000.0', 3_200_000], ['3.2e+06', 3_200_000], ['3.2E6', 3_200_000], ['3.200000E+06', 3_200_000], ['1e+05', 100_000],
    ['3.20E+06', REFUSED], ['3,2E+06', REFUSED], ['1E+06', REFUSED], ['15%', '15%'], ['ene-24', 'ene-24'],
  ]); // biome-ignore format: one table
  await assertOutcomes('num_debts', [
    ['1.0', '1'], ['2,0', '2'], ['3.00', '3'], ['1.5', '1.5'], ['1.000', '1.000'], [2, '2'], [1.5, REFUSED],
  ]); // biome-ignore format: one table
  await assertOutcomes('debt_age', [
    ['6-12', '6-12'],
    ['12-jun', '12-jun'],
    ['1.0', '1.0'],
  ]);
});

/** The cells of a sheet with the value that each field is sent with. */
const CELLS: readonly (readonly [
  cell: SheetCell,
  format: string,
  id: Outcome,
  phone: Outcome,
  name: Outcome,
  income: Outcome,
])[] = [
  [{ value: '1020304050' }, 'General', '1020304050', '1020304050', REFUSED, 1020304050],
  [{ value: '1.02030405E9' }, '@', '1020304050', '1020304050', REFUSED, 1020304050],
  [{ value: '1020304050' }, '#,##0', '1020304050', '1020304050', REFUSED, 1020304050],
  [{ value: '1020304050' }, '#,##0.00', '1020304050', '1020304050', REFUSED, 1020304050],
  [{ value: '1020304050' }, '[$$-240A] #,##0.00', '1020304050', '1020304050', REFUSED, 1020304050],
  [{ value: '12345678' }, '0000000000', '0012345678', '0012345678', REFUSED, 12345678],
  [{ value: '3005550101' }, '"57"0', '573005550101', '573005550101', REFUSED, REFUSED],
  [{ value: '3005550101' }, '\\+57 0', '+57 3005550101', '+57 3005550101', REFUSED, REFUSED],
  [{ value: '3005550101' }, '(000) 000-0000', '(300) 555-0101', '(300) 555-0101', REFUSED, REFUSED],
  [{ value: '1020304050' }, '"CC "0', 'CC 1020304050', 'CC 1020304050', 'CC 1020304050', REFUSED],
  [{ value: '1020304' }, '0",000"', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '1020304' }, '#,##0",000"', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '1020304' }, '0"000"', '1020304000', '1020304000', REFUSED, REFUSED],
  [{ value: '1020304050' }, '#,##0,', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '3.2' }, '0.0"M"', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '1020304050' }, '0.00E+00', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '1020304050' }, ';;;', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '1020304050' }, '[>=1000000]0.0,,"M";0', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '1020304050' }, `0${'_x'.repeat(128)}`, REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '45296' }, 'dd/mm/yyyy', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '0.5' }, '0%', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '1' }, '"Bogotá"', 'Bogotá', 'Bogotá', 'Bogotá', REFUSED],
  [{ value: '1500.75' }, '#,##0', REFUSED, REFUSED, REFUSED, 1500.75],
  [{ value: '123456789012345' }, '0', '123456789012345', '123456789012345', REFUSED, 123456789012345],
  [{ value: '1234567890123456' }, '0', REFUSED, REFUSED, REFUSED, 1234567890123456],
  [{ value: '45296', type: 'd' }, 'General', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '#N/A', type: 'e' }, 'General', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '#¡REF!', type: 'str', formula: 'A1' }, 'General', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '', formula: 'A1' }, 'General', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '', type: 'str', formula: 'A1' }, 'General', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '1020304050', formula: 'A1' }, 'General', '1020304050', '1020304050', REFUSED, 1020304050],
  [{ value: 'abc' }, 'General', REFUSED, REFUSED, REFUSED, REFUSED],
  [{ value: '1e999' }, 'General', REFUSED, REFUSED, REFUSED, REFUSED],
  [
    { value: '573005550101.0', type: 'inlineStr' },
    'General',
    '573005550101',
    '573005550101',
    REFUSED,
    573005550101,
  ],
];

function sheetWith(field: string, cells: readonly SheetCell[], styles: readonly string[], more = {}): string {
  const header = Object.keys(applicant()).map((value): SheetCell => ({ type: 'inlineStr', value }));
  const column = Object.keys(applicant()).indexOf(field);
  const rows = cells.map((cell) =>
    Object.values(applicant())
      .map((value): SheetCell => ({ type: 'inlineStr', value: String(value) }))
      .with(column, cell),
  );
  return fileOf('a.xlsx', workbookOf([header, ...rows], { styles: [...styles], more }));
}

test('XLSX: the text that a cell shows wins over the number that it holds, or the row is refused', async () => {
  const styles = CELLS.map(([, format]) => format);
  const cells = CELLS.map(([cell], index): SheetCell => ({ ...cell, style: index + 1 }));
  for (const [place, field] of ['id_number', 'phone', 'name', 'income'].entries()) {
    const rows = await converted(sheetWith(field, cells, styles));
    for (const [index, [cell, format, ...outcomes]] of CELLS.entries()) {
      const { application, faults } = rows[index] ?? assert.fail();
      const outcome = outcomes[place];
      const what = `${field} ${JSON.stringify(cell)} ${format.slice(0, 40)}`;
      assert.equal(application[field], outcome === REFUSED ? undefined : outcome, what);
      assert.equal(faults.length, outcome === REFUSED ? 1 : 0, what);
    }
  }
});

test('XLSX: a number as a choice or as consent is read as the text that its format shows', async () => {
  const consent = new Map([['si', true], ['1', true], ['no', false], ['0', false]]); // biome-ignore format: one list
  const conversion = { ...PLAIN.conversion, consent };
  const cells: [value: string, format: string, sent: Outcome][] = [
    ['1', '0', true], ['0', '0', false], ['1', '"Sí";;"No"', true], ['0', '"Sí";;"No"', false], ['1', '"No";;"Sí"', false],
    ['0', '"No";;"Sí"', true], ['1', '[=1]"No";"Sí"', REFUSED], ['1', '00', true], ['0', ';;;', REFUSED],
  ]; // biome-ignore format: one table
  const path = sheetWith(
    'messaging_optin',
    cells.map(([value], index) => ({ value, style: index + 1 })),
    cells.map(([, format]) => format),
  );
  const rows = await converted(path, { conversion });
  for (const [index, [value, format, sent]] of cells.entries())
    assert.equal(
      rows[index]?.application.messaging_optin,
      sent === REFUSED ? undefined : sent,
      `${value} ${format}`,
    );
});

test('XLSX: results of formulas that the writer left to be calculated are refused', async () => {
  const cells: SheetCell[] = [{ value: '0', formula: 'A1' }, { value: '5', formula: 'A1' }, { value: '5' }];
  for (const said of ['1', 'true', '0']) {
    const plain = workbookParts(said);
    const rows = await converted(sheetWith('income', cells, [], plain));
    assert.deepEqual(
      rows.map(({ application }) => application.income),
      said === '0' ? [0, 5, 5] : [undefined, undefined, 5],
    );
  }
});

function workbookParts(fullCalcOnLoad: string): Record<string, string> {
  const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  return {
    'xl/workbook.xml': `<workbook xmlns:r="${relations}"><sheets><sheet name="Hoja1" sheetId="1" r:id="rId7"/></sheets><calcPr calcId="124519" fullCalcOnLoad="${fullCalcOnLoad}"/></workbook>`,
  };
}

test('the changes of a cell are told by field', async () => {
  const cells: SheetCell[] = [{ value: '12345678', style: 1 }, { value: '1020304050' }];
  const rows = await converted(sheetWith('id_number', cells, ['0000000000']));
  assert.deepEqual(
    rows.map(({ changes }) => changes.filter(({ field }) => field === 'id_number')),
    [
      [{ field: 'id_number', change: 'text that the format shows' }],
      [{ field: 'id_number', change: 'number written as text' }],
    ],
  );
});
