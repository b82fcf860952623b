/** Every format and encoding gives the same applicants. The error for a damaged file says what is wrong. */
import assert from 'node:assert/strict';
import { utimesSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Applicant,
  allOf,
  applicant,
  applicationsOf,
  csvOf,
  fileOf,
  rowsOf,
  sourceOf,
  workbookOf,
  xlsxOf,
  zipOf,
} from '../files.ts';

const text = fc
  .stringMatching(/^[\p{L}\p{N}"',;: \n\r\t.\u{1F600}-\u{1F64F}=+@_-]{1,20}$/u)
  .map((value) => value.replaceAll('\r', '\n').replace(/^=/, '_x0041_'))
  // A number or a date alone is refused.
  .map((value) => [...value].toSpliced(1, 0, 'Ñ').join(''));
const anyApplicant: fc.Arbitrary<Applicant> = fc.record({
  name: text,
  id_number: fc.stringMatching(/^[0-9A-Z-]{1,12}$/).map((id) => `X${id}`),
  city: text,
  phone: fc.option(fc.stringMatching(/^\+57300[0-9]{7}$/)),
  platform: fc.option(text),
  income: fc.integer({ min: 1, max: 1e9 }),
  debt_amount: fc.integer({ min: 1, max: 1e11 }).map((cents) => cents / 100),
  num_debts: fc.constantFrom('1', '2', '3'),
  debt_age: fc.constantFrom('lt6', '6a12', '1a2', 'gt2'),
  prior_history: fc.constantFrom('yes', 'no', 'si'),
  messaging_optin: fc.boolean(),
});
/** Amounts in CSV's form, because a point before three digits would be ambiguous. */
const inCsv = (one: Applicant) => ({ ...one, debt_amount: (one.debt_amount as number).toFixed(2) });

test('a list reads the same from CSV, JSONL, JSON and XLSX', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyApplicant, { minLength: 1, maxLength: 8 }), async (list) => {
      const expected = list.map((one) =>
        Object.fromEntries(Object.entries(one).filter(([, value]) => value !== null)),
      );
      const json = JSON.stringify(list);
      const files = [
        fileOf('a.csv', csvOf(list.map(inCsv))),
        fileOf('a.csv', csvOf(list.map(inCsv), ';', '\r\n')),
        fileOf('a.tsv', csvOf(list.map(inCsv), '\t')),
        fileOf('a.jsonl', list.map((one) => `${JSON.stringify(one)}\n`).join('\n')),
        fileOf('a.json', json),
        fileOf(
          'b.json',
          `{"sent": [{"by": "a]}"}], "aplicaciones" : ${JSON.stringify(list, null, 2)} , "n":1}`,
        ),
        fileOf('a.xlsx', xlsxOf(list)),
      ];
      for (const file of files) assert.deepEqual(await applicationsOf(file), expected, file);
    }),
    { numRuns: 25 },
  );
});

const LIST = [applicant({ name: 'Íñigo Ñandú', city: 'Bogotá D.C.' }), applicant({ name: 'Zoë\nMüller' })];
const CSV = csvOf(LIST);
const utf16 = (bigEndian: boolean, mark: boolean) => {
  const bytes = Buffer.from(`${mark ? '\ufeff' : ''}${CSV}`, 'utf16le');
  return bigEndian ? bytes.swap16() : bytes;
};

const ENCODED: readonly (readonly [what: string, bytes: Buffer, encoding: string])[] = [
  ['UTF-8', Buffer.from(CSV), 'UTF-8'],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${CSV}`), 'UTF-8'],
  ['UTF-16LE with a mark', utf16(false, true), 'UTF-16LE'],
  ['UTF-16LE without', utf16(false, false), 'UTF-16LE'],
  ['UTF-16BE with a mark', utf16(true, true), 'UTF-16BE'],
  ['UTF-16BE without', utf16(true, false), 'UTF-16BE'],
  ['Latin-1', Buffer.from(CSV, 'latin1'), 'Windows-1252'],
];

for (const [what, bytes, encoding] of ENCODED) {
  test(`${what} is recognised, shown and read`, async () => {
    const path = fileOf('a.csv', bytes);
    assert.equal((await sourceOf(path)).file.encoding, encoding);
    assert.deepEqual(await applicationsOf(path), LIST);
  });
}

test('the characters that Windows-1252 has beyond Latin-1 are read', async () => {
  const bytes = Buffer.from(csvOf([applicant({ name: 'O_Neil' })]).replace('Gómez', ''), 'latin1');
  bytes[bytes.indexOf('O_Neil') + 1] = 0x92;
  assert.equal((await applicationsOf(fileOf('a.csv', bytes)))[0]?.name, 'O’Neil');
});

test('a Latin-1 accent far into the file decides the encoding like one at its beginning', async () => {
  const many = Array.from({ length: 3000 }, () => applicant({ name: 'Ana', city: 'Cali' }));
  const path = fileOf('a.csv', Buffer.from(csvOf([...many, applicant({ city: 'Cali' })]), 'latin1'));
  assert.equal((await sourceOf(path)).file.encoding, 'Windows-1252');
  assert.equal((await applicationsOf(path)).at(-1)?.name, 'Ana Gómez');
});

test('a file in two encodings is refused with the line, and read with --encoding', async () => {
  const bytes = Buffer.concat([
    Buffer.from(CSV),
    Buffer.from(csvOf([applicant()]).split('\n')[1] ?? '', 'latin1'),
  ]);
  const path = fileOf('a.csv', bytes);
  await assert.rejects(sourceOf(path), /^Error: a\.csv, line 5: .*not UTF-8/);
  assert.equal((await rowsOf(path, { encoding: 'Windows-1252' })).length, 3);
  await assert.rejects(sourceOf(path, { encoding: 'UTF-8' }), /a\.csv/);
});

test('rows count as a spreadsheet shows them; empty rows are left out', async () => {
  const [header = '', row = ''] = csvOf([applicant({ name: 'x' })]).split('\n');
  const blank = row.replace(/"[^"]*"/g, '" "');
  const path = fileOf(
    'a.csv',
    `${header}\n\n${row}\n${blank}\n\r\n${row.replace('"x"', '"a\nb"')}\n${row}\n\n`,
  );
  assert.deepEqual(
    (await rowsOf(path)).map(({ number }) => number),
    [3, 6, 7],
  );
});

test("Excel's first line with the separator is not a row", async () => {
  const path = fileOf('a.csv', `sep=;\r\n${csvOf(LIST, ';')}`);
  assert.deepEqual(await applicationsOf(path), LIST);
  assert.deepEqual(
    (await rowsOf(path)).map(({ number }) => number),
    [3, 4],
  );
});

test('the content decides on the format, and a note says where the name disagrees', async () => {
  const files: [name: string, content: string | Buffer, format: string][] = [
    ['a.txt', CSV, 'CSV'],
    ['a.csv', xlsxOf(LIST), 'XLSX'],
    ['a.xlsx', CSV, 'CSV'],
    ['a.csv', JSON.stringify(LIST), 'JSON'],
    ['a.json', LIST.map((one) => JSON.stringify(one)).join('\n'), 'JSONL'],
    ['a.jsonl', JSON.stringify({ applications: LIST }), 'JSON'],
  ];
  for (const [name, content, format] of files) {
    const source = await sourceOf(fileOf(name, content));
    assert.equal(source.file.format, format);
    if (name !== 'a.txt') assert.match(source.notes.join(), new RegExp(`read as ${format}`));
    assert.equal((await allOf(source.table.rows())).length, LIST.length);
  }
});

const XLSX = xlsxOf(LIST);
const LONG = `{"applications":[${JSON.stringify(applicant({ name: 'x'.repeat(1024 * 1024) }))}]}`;
const ZEROS = Buffer.alloc(64 * 1024 * 1024, ' ');
const BROKEN: readonly (readonly [what: string, name: string, content: string | Buffer, message: RegExp])[] = [
  ['an empty file', 'a.csv', '', /a\.csv: it is empty/],
  ['nothing but empty lines', 'a.csv', '\n \n\n', /a\.csv: it holds nothing/],
  ['a truncated XLSX', 'a.xlsx', XLSX.subarray(0, XLSX.length - 100), /a\.xlsx: it is damaged or cut off/],
  ['an XLSX that begins alone', 'a.xlsx', XLSX.subarray(0, 200), /a\.xlsx: it is damaged or cut off/],
  ['a zip that is no workbook', 'a.xlsx', zipOf({ 'a.txt': 'x' }), /a\.xlsx: it is an archive \(ZIP\) without a workbook: unpack it first/],
  ['an XLSX with broken XML', 'a.xlsx', workbookOf([], { more: { 'xl/worksheets/sheet1.xml': '<a><b></a>' } }), /a\.xlsx: it is damaged/],
  ['a zip bomb', 'a.xlsx', workbookOf([], { more: { 'xl/worksheets/sheet1.xml': ZEROS.toString() } }), /a\.xlsx: .*not opened/],
  ['entities that grow', 'a.xlsx', workbookOf([], { more: { 'xl/workbook.xml': '<!DOCTYPE x [<!ENTITY a "aa">]><x>&a;</x>' } }), /a\.xlsx: it is damaged/],
  ['an old Excel file', 'a.xls', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /a\.xls: .*\.xlsx/],
  ['a workbook of OpenDocument', 'a.ods', zipOf({ mimetype: 'application/vnd.oasis.opendocument.spreadsheet', 'content.xml': '<x/>' }), /a\.ods: it is an OpenDocument file \(\.ods\): save it as \.xlsx/],
  ['a binary workbook', 'a.xlsx', zipOf({ 'xl/workbook.bin': 'x', 'xl/worksheets/sheet1.bin': 'x' }), /a\.xlsx: it is a binary Excel file \(\.xlsb\): save it as \.xlsx/],
  ['HTML in the name of an old Excel file', 'a.xls', '\ufeff\r\n<!-- Ana --><HTML xmlns:x="urn:x"><body><table><tr><td>Ana</td></tr></table></body></HTML>', /a\.xls: it is a web page \(HTML\): .*save it as \.xlsx/],
  ['a bare HTML table in UTF-16', 'a.xls', Buffer.from('\ufeff<table border="1"><tr><td>Ana</td></tr></table>', 'utf16le'), /a\.xls: it is a web page \(HTML\)/],
  ['a web page with its doctype', 'a.csv', '<!DOCTYPE html>\n<p>Ana</p>', /a\.csv: it is a web page \(HTML\)/],
  ['a workbook in XML', 'a.xls', '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook>Ana</Workbook>', /a\.xls: it is XML: .*save it as \.xlsx/],
  ['a picture', 'a.csv', Buffer.from('89504e470d0a1a0a0000000d', 'hex'), /a\.csv: it is neither text/],
  ['a quote that is never closed', 'a.csv', CSV.replace('"Zoë', '""Zoë'), /a\.csv, row 3/],
  ['a separator that is none of the three', 'a.csv', 'name|city\nAna|Bo\n', /a\.csv: .* 0 of 1\. Columns are separated by comma, semicolon or tab/],
  ['JSON with another root', 'a.json', '{"data":[]}', /a\.json: .* 0 of 1\. Each object must have the fields' names, in an array or under "applications"; name, id_number/],
  ['a quote inside a value', 'a.csv', 'name,city\nAna,Bo"go"ta\n', /a\.csv/],
  ['JSON that was cut off', 'a.json', JSON.stringify(LIST).slice(0, -10), /a\.json.*cut off/],
  ['JSON with a fault', 'a.json', `[${JSON.stringify(LIST[0])}, {"name": }]`, /a\.json, row 2: it is not valid JSON/],
  ['JSON without the array', 'a.json', '{\n"people":[]}', /a\.json.*"applications"/],
  ['JSON that goes on', 'a.json', '[] []', /a\.json/],
  ['a line that is no JSON', 'a.jsonl', `${JSON.stringify(LIST[0])}\n{"name"\n`, /a\.jsonl, row 2/],
  ['an element that never ends', 'a.json', LONG, /a\.json, row 1: it is longer/],
  ['UTF-16 that was cut off', 'a.csv', utf16(false, true).subarray(0, -1), /a\.csv: it is not valid UTF-16LE/],
]; // biome-ignore format: one table

for (const [what, name, content, message] of BROKEN) {
  test(`${what} is refused with its fault, and no value is shown`, async () => {
    const error = await rowsOf(fileOf(name, content)).then(
      () => assert.fail('it was read'),
      (refusal: Error) => refusal,
    );
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /Ana|Zo|Íñigo|Bogot/);
  });
}

test('an archive whose directory lies about sizes is refused', async () => {
  const parts = { 'xl/workbook.xml': `<workbook>${' '.repeat(100_000)}</workbook>` };
  await assert.rejects(
    rowsOf(
      fileOf(
        'a.xlsx',
        zipOf(parts, () => 10),
      ),
    ),
    /a\.xlsx: it is damaged/,
  );
});

test('a row with more cells than columns has a fault', async () => {
  const lines = csvOf(LIST).split('\n');
  const path = fileOf('a.csv', `${lines[0]}\n${lines[1]},"more"\n${lines[1]},,\n`);
  assert.deepEqual(
    (await rowsOf(path)).map(({ fault }) => fault?.en ?? null),
    ['it has 11 cells, and there are 10 columns', null],
  );
});

test('a JSON element that is no object is a row with a fault', async () => {
  const path = fileOf('a.json', `[1, null, ${JSON.stringify(LIST[0])}, "x", [2]]`);
  assert.deepEqual(
    (await rowsOf(path)).map(({ number, fault }) => [number, fault === null]),
    [
      [1, false],
      [2, false],
      [3, true],
      [4, false],
      [5, false],
    ],
  );
});

test('a file that changes between inspection and reading is refused', async () => {
  for (const [name, content] of [
    ['a.csv', CSV],
    ['a.xlsx', XLSX],
  ] as const) {
    const path = fileOf(name, content);
    const source = await sourceOf(path);
    utimesSync(path, new Date(), new Date(0));
    await assert.rejects(allOf(source.table.rows()), /changed while it was read/);
  }
});

test('one long text in many cells of an XLSX does not fill the memory', async () => {
  const cells = Array.from({ length: 900 }, () => ({ type: 's', value: '0' }));
  const path = fileOf('a.xlsx', workbookOf([cells], { shared: ['x'.repeat(10_000)] }));
  await assert.rejects(rowsOf(path), /a\.xlsx, row 1: it is longer/);
});

test('characters and rows across two pieces of a file are read whole', async () => {
  const list = Array.from({ length: 3000 }, (_, index) =>
    applicant({ name: `Ñandú ${index}`, city: 'é€😀'.repeat(3) }),
  );
  const csv = csvOf(list);
  const files: [name: string, content: string | Buffer][] = [
    ['a.csv', csv],
    ['b.csv', Buffer.from(`\ufeff${csv}`, 'utf16le')],
    ['a.json', JSON.stringify(list)],
    ['a.jsonl', list.map((one) => JSON.stringify(one)).join('\n')],
    ['a.xlsx', xlsxOf(list)],
  ];
  for (const [name, content] of files)
    assert.deepEqual(await applicationsOf(fileOf(name, content)), list, name);
});

test('UTF-16 characters across two pieces of a file are read whole', async () => {
  const list = [1, 2].map((shift) => applicant({ name: 'x'.repeat(shift), city: '😀'.repeat(20_000) }));
  for (const one of list) {
    const bytes = Buffer.from(`\ufeff${csvOf([one])}`, 'utf16le');
    assert.deepEqual(await applicationsOf(fileOf('a.csv', bytes)), [one]);
    assert.deepEqual(await applicationsOf(fileOf('a.csv', bytes.swap16())), [one]);
  }
});

test('an XLSX with endless depth or one endless text is refused before it fills the memory', async () => {
  const deep = '<a>'.repeat(100_000);
  const long = `<t>${'x'.repeat(60_000)}</t>`.repeat(40);
  const sheet = (rows: string) => ({
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
  });
  const files: [more: Record<string, string>, refusal: RegExp][] = [
    [sheet(deep), /a\.xlsx: it is damaged/],
    [sheet(`<row r="1"><c t="inlineStr"><is>${long}</is></c></row>`), /a\.xlsx, row 1: it is longer/],
    [{ 'xl/sharedStrings.xml': `<sst><si>${long}</si></sst>` }, /a\.xlsx: it holds more texts than memory/],
  ];
  for (const [more, refusal] of files) {
    await assert.rejects(rowsOf(fileOf('a.xlsx', workbookOf([], { more, shared: ['x'] }))), refusal);
  }
});

test('an error does not quote a first row that may be an applicant', async () => {
  const row = 'Ana Gómez,Cédula,1020304050,Bogotá,+573001112233,3200000,15000000,2\n';
  const error = await sourceOf(fileOf('a.csv', row + row)).then(
    () => assert.fail('it was read'),
    (refusal: Error) => refusal,
  );
  assert.match(error.message, /columns with a known name: 1 of 8/);
  assert.doesNotMatch(error.message, /Ana|1020304050|Bogot|3200000/);
});

const HEADED = csvOf(LIST, ';').split('\n');
const TITLES: readonly (readonly [what: string, above: string])[] = [
  ['a title', 'Solicitantes, noviembre 2026, sede norte\n'],
  ['a title and an empty row', 'Listado;;;;\n\n'],
  ['a title with bare quotes', 'Solicitantes de "Rutas SA", noviembre\n\n'],
  ['a title with a quote that is never closed', 'Fecha;hoy\n"Solicitantes, noviembre\n'],
  ['many rows', '\n"Empresa ""A"""\nNIT 900\n\nFecha;2026-11-22\nSolicitantes\n'],
];

for (const [what, above] of TITLES) {
  test(`${what} above the header is left out, and a note says so`, async () => {
    const path = fileOf('a.csv', above + HEADED.join('\n'));
    const header = above.split('\n').length;
    const source = await sourceOf(path);
    assert.deepEqual(await applicationsOf(path), LIST);
    assert.deepEqual(
      (await rowsOf(path)).map(({ number }) => number),
      [header + 1, header + 2],
    );
    const note = `row ${header} has the columns' names: the rows above it are not sent`;
    assert.deepEqual(source.notes, ['columns are separated by semicolon', note]);
    assert.deepEqual(await applicationsOf(path, { headerRow: header }), LIST);
  });
}

test('a title with commas above unknown names gets the error about names, not one about a quote', async () => {
  const odd = HEADED.with(0, HEADED[0]?.replace(/"(\w+)"/g, '"x $1"') ?? '');
  const path = fileOf('a.csv', `Solicitantes, noviembre\n${odd.join('\n')}`);
  await assert.rejects(
    sourceOf(path),
    /columns with a known name: 0 of 1\. .*Row 1 must hold the columns' names; --header-row N/,
  );
  await assert.rejects(sourceOf(path, { headerRow: 1 }), /columns with a known name: 0 of 1\. /);
});

test('a fault below a title names its row as a spreadsheet shows it', async () => {
  const [header, row = ''] = HEADED;
  const broken = row.replace('"', '"Ana "la" ');
  const path = fileOf('a.csv', `Solicitantes de "Rutas SA"\n\n${header}\n${row}\n${broken}\n`);
  const read = async () => rowsOf(path);
  await assert.rejects(read(), /a\.csv, row 5, column "name": a quote stands inside a value \(line 5\)/);
});

test('a title above the header of an XLSX is left out', async () => {
  const cell = (value: unknown) =>
    typeof value === 'string' ? { type: 'inlineStr', value } : { value: String(value) };
  const names = Object.keys(applicant()).map(cell);
  const { messaging_optin, ...one } = applicant();
  const values = [...Object.values(one).map(cell), { type: 'b', value: '1' }];
  const path = fileOf('a.xlsx', workbookOf([[cell('Solicitantes')], [], names, values]));
  for (const headerRow of [null, 3]) {
    assert.deepEqual(await applicationsOf(path, { headerRow }), [{ ...one, messaging_optin }]);
  }
  assert.match((await sourceOf(path)).notes.join(), /row 3 has the columns' names/);
});

test('--header-row tells the header where no names are known, and its error names an empty row', async () => {
  const odd = HEADED.with(0, HEADED[0]?.replace(/"(\w+)"/g, '"x $1"') ?? '');
  const map = Object.keys(applicant()).map((name) => [name, `x ${name}`] as const);
  const path = fileOf('a.csv', `Solicitantes, noviembre\n${odd.join('\n')}`);
  assert.deepEqual(await applicationsOf(path, { headerRow: 2, map }), LIST);
  // The columns that --map names are known names.
  assert.deepEqual(await applicationsOf(path, { map }), LIST);
  const plain = fileOf('a.csv', `Solicitantes\n${odd.join('\n')}`);
  await assert.rejects(
    sourceOf(plain),
    /Row 1 must hold the columns' names; --header-row N tells another row/,
  );
  const gap = fileOf('a.csv', `Solicitantes\n\n${HEADED.join('\n')}`);
  for (const headerRow of [2, 99]) {
    await assert.rejects(
      sourceOf(gap, { headerRow }),
      new RegExp(`a\\.csv, row ${headerRow}: .*empty or absent`),
    );
  }
  const json = fileOf('a.json', JSON.stringify(LIST));
  await assert.rejects(
    sourceOf(json, { headerRow: 1 }),
    /a\.json: JSON has no row with .*leave --header-row out/,
  );
});

test('a file without known names in 20 rows has its header in the first row', async () => {
  const many = Array.from({ length: 30 }, () => LIST[0] as Applicant);
  const path = fileOf('a.csv', `name;x\n${csvOf(many, ';').split('\n').slice(1).join('\n')}`);
  await assert.rejects(sourceOf(path), /columns with a known name: 1 of 2/);
});
