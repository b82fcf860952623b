/** The parts of an XLSX file are found by its relationships, whatever their names; what is missing is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, inflateRawSync } from 'node:zlib';
import {
  applicant,
  applicationsOf,
  fileOf,
  RELATIONS,
  relationships,
  rowsOf,
  type SheetCell,
  sourceOf,
  workbookOf,
  zipOf,
} from '../files.ts';

const STRICT = 'http://purl.oclc.org/ooxml/officeDocument/relationships';
const ZEROS = '0000000000';
const NAMES = Object.keys(applicant());
const textOf = (value: unknown): SheetCell => ({ type: 'inlineStr', value: String(value) });

/** The parts of a workbook by name. Its ID number is 12345678, which the cell shows as 0012345678. */
function partsOf(more: Record<string, SheetCell> = {}): Record<string, string> {
  const cells = NAMES.map((name) => {
    if (name in more) return more[name] as SheetCell;
    if (name === 'id_number') return { value: '12345678', style: 1 };
    return name === 'name' ? { type: 's', value: '0' } : textOf(applicant()[name]);
  });
  const book = workbookOf([NAMES.map(textOf), cells], { styles: [ZEROS], shared: ['Ana Gómez'] });
  return unzipped(book);
}

function unzipped(book: Buffer): Record<string, string> {
  const parts: Record<string, string> = {};
  for (let at = 0; book.readUInt32LE(at) === 0x04034b50; ) {
    const [size, name] = [book.readUInt32LE(at + 18), book.readUInt16LE(at + 26)];
    const start = at + 30 + name;
    const content = inflateRawSync(book.subarray(start, start + size));
    parts[book.toString('utf8', at + 30, start)] = content.toString();
    at = start + size;
  }
  return parts;
}

/** The same parts under other names, and with relationships that lead there. */
function renamed(
  parts: Record<string, string>,
  names: Record<string, string>,
  relations: Record<string, string>,
): Buffer {
  const kept = Object.entries(parts).filter(([name]) => !name.endsWith('.rels'));
  return zipOf({
    ...Object.fromEntries(kept.map(([name, content]) => [names[name] ?? name, content])),
    ...relations,
  });
}

const ofFile = (target: string, namespace = RELATIONS) =>
  relationships({ rId1: ['officeDocument', target] }, namespace);
const ofWorkbook = (sheet: string, styles: string, strings: string, namespace = RELATIONS) =>
  relationships(
    { rId7: ['worksheet', sheet], rId8: ['styles', styles], rId9: ['sharedStrings', strings] },
    namespace,
  );
const USUAL = ['worksheets/sheet1.xml', 'styles.xml', 'sharedStrings.xml'] as const;

const PLACES: readonly (readonly [
  what: string,
  names: Record<string, string>,
  relations: Record<string, string>,
])[] = [
  [
    'the workbook has another name',
    { 'xl/workbook.xml': 'xl/office22.xml' },
    { '_rels/.rels': ofFile('xl/office22.xml'), 'xl/_rels/office22.xml.rels': ofWorkbook(...USUAL) },
  ],
  [
    'all parts lie in the root',
    {
      'xl/workbook.xml': 'workbook.xml',
      'xl/styles.xml': 'styles.xml',
      'xl/sharedStrings.xml': 'sharedStrings.xml',
      'xl/worksheets/sheet1.xml': 'sheet1.xml',
    },
    {
      '_rels/.rels': ofFile('workbook.xml'),
      '_rels/workbook.xml.rels': ofWorkbook('sheet1.xml', 'styles.xml', 'sharedStrings.xml'),
    },
  ],
  [
    'styles and texts have other names',
    { 'xl/styles.xml': 'xl/styles2.xml', 'xl/sharedStrings.xml': 'xl/sst2.xml' },
    {
      '_rels/.rels': ofFile('/xl/workbook.xml'),
      'xl/_rels/workbook.xml.rels': ofWorkbook(USUAL[0], 'styles2.xml', 'sst2.xml'),
    },
  ],
  [
    'targets are absolute',
    { 'xl/worksheets/sheet1.xml': 'data/hoja.xml', 'xl/styles.xml': 'estilos/s.xml' },
    {
      '_rels/.rels': ofFile('/xl/workbook.xml'),
      'xl/_rels/workbook.xml.rels': ofWorkbook('/data/hoja.xml', '/estilos/s.xml', '/xl/sharedStrings.xml'),
    },
  ],
  [
    'targets go up a folder',
    { 'xl/styles.xml': 'estilos/s.xml', 'xl/sharedStrings.xml': 't.xml' },
    {
      '_rels/.rels': ofFile('./xl/../xl/workbook.xml'),
      'xl/_rels/workbook.xml.rels': ofWorkbook('./worksheets/sheet1.xml', '../estilos/s.xml', '../../t.xml'),
    },
  ],
  [
    'targets are percent-encoded',
    { 'xl/worksheets/sheet1.xml': 'xl/worksheets/hoja uno.xml', 'xl/styles.xml': 'xl/estilos%20dos.xml' },
    {
      '_rels/.rels': ofFile('xl/workbook.xml'),
      'xl/_rels/workbook.xml.rels': ofWorkbook('worksheets/hoja%20uno.xml', 'estilos dos.xml', USUAL[2]),
    },
  ],
  [
    'names differ in capitals, and separators in their direction',
    { 'xl/workbook.xml': 'XL/Workbook.XML', 'xl/styles.xml': 'xl/Styles.xml' },
    {
      '_rels/.rels': ofFile('xl\\workbook.xml'),
      'xl/_rels/Workbook.xml.rels': ofWorkbook('Worksheets\\Sheet1.xml', 'styles.XML', 'sharedstrings.xml'),
    },
  ],
  [
    'the file is strict',
    {},
    {
      '_rels/.rels': ofFile('xl/workbook.xml', STRICT),
      'xl/_rels/workbook.xml.rels': ofWorkbook(...USUAL, STRICT),
    },
  ],
];

for (const [what, names, relations] of PLACES) {
  test(`an XLSX file is read where ${what}`, async () => {
    const path = fileOf('a.xlsx', renamed(partsOf(), names, relations));
    const [one] = await applicationsOf(path);
    assert.deepEqual([one?.name, one?.id_number, one?.city], ['Ana Gómez', '0012345678', 'Bogotá']);
  });
}

test('a number with a format is refused where no styles can be found: it may be a date, or have zeros before it', async () => {
  const ofStrings = relationships({
    rId7: ['worksheet', USUAL[0]],
    rId9: ['sharedStrings', USUAL[2]],
    rId8: ['theme', 'styles.xml'],
  });
  const lost: [what: string, parts: Record<string, string>][] = [
    ['no relationship', { 'xl/_rels/workbook.xml.rels': ofStrings }],
    ['no such part', { 'xl/_rels/workbook.xml.rels': ofWorkbook(USUAL[0], 'gone.xml', USUAL[2]) }],
    ['fewer styles', { 'xl/styles.xml': '<styleSheet><cellXfs><xf numFmtId="0"/></cellXfs></styleSheet>' }],
  ];
  for (const [what, changed] of lost) {
    const path = fileOf('a.xlsx', zipOf({ ...partsOf(), ...changed }));
    await assert.rejects(
      applicationsOf(path),
      /a\.xlsx, row 2: its cells have formats that the file does not/,
      what,
    );
  }
  // Without formats there is nothing to misread.
  const plain = partsOf({ id_number: textOf('0012345678'), income: { value: '45292' } });
  const [one] = await applicationsOf(
    fileOf('a.xlsx', zipOf({ ...plain, 'xl/_rels/workbook.xml.rels': ofStrings })),
  );
  assert.deepEqual([one?.id_number, one?.income], ['0012345678', 45_292]);
});

test('a number with a format of the file that the file does not describe has a fault', async () => {
  const styles = '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs></styleSheet>';
  const source = await sourceOf(fileOf('a.xlsx', zipOf({ ...partsOf(), 'xl/styles.xml': styles })));
  for await (const rows of source.convertedRows())
    for (const { faults } of rows)
      assert.match(
        faults.map(source.textOf).join(),
        /^column "id_number": it is a number that its format shows/,
      );
});

test('a sheet or a text that the relationships do not lead to is missing, and no other part takes its place', async () => {
  const wrong: [rels: string, error: RegExp][] = [
    [ofWorkbook('worksheets/gone.xml', USUAL[1], USUAL[2]), /its sheet "Hoja1" is missing/],
    [ofWorkbook(USUAL[0], USUAL[1], 'gone.xml'), /row 2: the file is damaged: a text is missing/],
    [
      ofWorkbook(...USUAL).replace('Target="worksheets', 'TargetMode="External" Target="worksheets'),
      /without a workbook/,
    ],
  ];
  for (const [rels, error] of wrong) {
    const path = fileOf('a.xlsx', zipOf({ ...partsOf(), 'xl/_rels/workbook.xml.rels': rels }));
    await assert.rejects(rowsOf(path), error);
  }
});

test('bytes behind the end of the archive do no harm, and damage is told', async () => {
  const book = zipOf(partsOf());
  for (const behind of [1, 142, 4_096, 900_000]) {
    const path = fileOf('a.xlsx', Buffer.concat([book, Buffer.alloc(behind, behind % 2)]));
    assert.equal((await applicationsOf(path))[0]?.id_number, '0012345678', `${behind}`);
  }
  const commented = Buffer.concat([book, Buffer.from('a comment')]);
  commented.writeUInt16LE(9, book.length - 2);
  assert.equal((await rowsOf(fileOf('a.xlsx', Buffer.concat([commented, Buffer.alloc(3)])))).length, 1);
  for (const cut of [1, 21, 22, 60, book.length - 30]) {
    const path = fileOf('a.xlsx', book.subarray(0, book.length - cut));
    await assert.rejects(rowsOf(path), /a\.xlsx: it is damaged or cut off/, `${cut}`);
  }
  const halfAComment = commented.subarray(0, commented.length - 1);
  await assert.rejects(rowsOf(fileOf('a.xlsx', halfAComment)), /a\.xlsx: it is damaged or cut off/);
});

test('a part whose checksum does not fit is damage, also where its size is right', async () => {
  const parts = partsOf();
  const book = zipOf(parts);
  const sheet = Buffer.alloc(4);
  sheet.writeUInt32LE(crc32(parts['xl/worksheets/sheet1.xml'] as string));
  const other = Buffer.from(book);
  for (let at = other.indexOf(sheet); at >= 0; at = other.indexOf(sheet, at + 1)) other.writeUInt8(7, at);
  await assert.rejects(rowsOf(fileOf('a.xlsx', other)), /a\.xlsx: it is damaged or cut off/);
});

test('two parts with one name are damage: nobody knows which one a spreadsheet shows', async () => {
  const parts = partsOf();
  const sheet = parts['xl/worksheets/sheet1.xml'] as string;
  const other = sheet.replace('12345678', '87654321');
  const path = fileOf('a.xlsx', zipOf({ ...parts, 'XL/worksheets/Sheet1.xml': other }));
  await assert.rejects(rowsOf(path), /a\.xlsx: it is damaged or cut off/);
  // Parts that are not read do not matter.
  const media = { 'xl/media/image1.png': 'x', 'xl/media/Image1.png': 'y' };
  assert.equal((await rowsOf(fileOf('a.xlsx', zipOf({ ...parts, ...media })))).length, 1);
});

/** The same archive with its sizes and places in 64 bits. */
function in64(book: Buffer): Buffer {
  const end = book.length - 22;
  const start = book.readUInt32LE(end + 16);
  const entries: Buffer[] = [];
  for (let at = start; at < end; ) {
    const name = book.readUInt16LE(at + 28);
    const entry = Buffer.from(book.subarray(at, at + 46 + name));
    const extra = Buffer.alloc(28);
    extra.writeUInt16LE(1, 0);
    extra.writeUInt16LE(24, 2);
    for (const [index, place] of [24, 20, 42].entries()) {
      extra.writeBigUInt64LE(BigInt(entry.readUInt32LE(place)), 4 + 8 * index);
      entry.writeUInt32LE(0xffffffff, place);
    }
    entry.writeUInt16LE(extra.length, 30);
    entries.push(entry, extra);
    at += 46 + name;
  }
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(BigInt(entries.length / 2), 32);
  record.writeBigUInt64LE(BigInt(start), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  const body = Buffer.concat([book.subarray(0, start), ...entries]);
  locator.writeBigUInt64LE(BigInt(body.length), 8);
  const last = Buffer.from(book.subarray(end));
  last.fill(0xff, 8, 20);
  return Buffer.concat([body, record, locator, last]);
}

test('an archive in 64 bits is read; one with two sizes of a stored part, or with a password, is damaged', async () => {
  const book = zipOf(partsOf());
  assert.equal((await applicationsOf(fileOf('a.xlsx', in64(book))))[0]?.id_number, '0012345678');
  const cut = in64(book);
  cut.writeUInt16LE(12, cut.indexOf(Buffer.from('01001800', 'hex')) + 2);
  await assert.rejects(rowsOf(fileOf('a.xlsx', cut)), /a\.xlsx: it is damaged or cut off/);

  const stored = Buffer.from(zipOf({ 'xl/workbook.xml': '' }));
  // An empty part packs to two bytes.
  assert.equal(stored.readUInt32LE(18), 2);
  const directory = stored.indexOf('PK\x01\x02');
  for (const [at, method] of [
    [8, 0],
    [directory + 10, 0],
  ] as const)
    stored.writeUInt16LE(method, at);
  await assert.rejects(rowsOf(fileOf('a.xlsx', stored)), /a\.xlsx: it is damaged or cut off/);

  const locked = Buffer.from(book);
  for (let at = locked.indexOf('PK\x01\x02'); at >= 0; at = locked.indexOf('PK\x01\x02', at + 1))
    locked.writeUInt16LE(0x809, at + 8);
  await assert.rejects(rowsOf(fileOf('a.xlsx', locked)), /a\.xlsx: it is damaged or cut off/);
});
