/** The sheet with the applicants is found or named; hidden rows, hidden columns and merged cells are told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Applicant,
  allOf,
  applicant,
  applicationsOf,
  fileOf,
  rowsOf,
  sheetsOf,
  sourceOf,
} from '../files.ts';

const NAMES = Object.keys(applicant());
const one = (changes: Applicant = {}): string[] =>
  Object.values(applicant({ ...(changes as object), messaging_optin: 'true' })).map(String);
const LIST = [NAMES, one(), one({ name: 'Luz' })];
const namesIn = async (path: string, options = {}) =>
  (await applicationsOf(path, options)).map(({ name }) => name);
/** Reads to the end, as a submission does. */
const read = async (path: string) => allOf((await sourceOf(path)).convertedRows());

test('applicants in the second sheet, or behind a chart or an empty sheet, are found, and a note names all sheets', async () => {
  for (const first of [
    {
      name: 'Resumen',
      rows: [
        ['Total', '2'],
        ['Fecha', 'hoy'],
      ],
    },
    { name: 'Gráfico', isChart: true },
    { name: 'Vacía' },
    { name: 'Vieja', state: 'hidden', rows: [NAMES, one({ name: 'Vieja' })] },
    { name: 'Muy vieja', state: 'veryHidden', rows: [NAMES, one({ name: 'Vieja' })] },
  ] as const) {
    const path = fileOf('a.xlsx', sheetsOf(first, { name: 'Datos', rows: LIST }));
    const source = await sourceOf(path);
    assert.deepEqual(await namesIn(path), ['Ana Gómez', 'Luz'], first.name);
    const what = 'isChart' in first ? ' \\(a chart\\)' : 'state' in first ? ' \\(hidden\\)' : '';
    assert.match(
      source.notes.join('; '),
      new RegExp(
        `has 2 sheets: only 2 "Datos" is read\\. Not read: 1 "${first.name}"${what}; --sheet chooses one`,
      ),
    );
    assert.equal(source.settings.sheet, 'Datos');
  }
});

test('the first of several sheets with applicants is read, and a note names the others', async () => {
  const path = fileOf(
    'a.xlsx',
    sheetsOf({ name: 'Cali', rows: LIST }, { name: 'x' }, { name: 'Tunja', rows: LIST }),
  );
  const { notes, table } = await sourceOf(path);
  assert.equal(table.sheet, 'Cali');
  assert.match(notes.join('; '), /applicants may also be in 3 "Tunja": submit each sheet by itself/);
});

test('--sheet chooses by name in any capitalisation, by number, and a name that is a number wins', async () => {
  const sheet = (name: string) => ({ name, rows: [NAMES, one({ name: `of ${name}` })] });
  const path = fileOf(
    'a.xlsx',
    sheetsOf(
      sheet('Uno'),
      { name: 'Gráfico', isChart: true },
      { ...sheet('Dos'), state: 'hidden' },
      sheet('1'),
    ),
  );
  for (const [wanted, name] of [
    ['uno', 'of Uno'],
    ['3', 'of Dos'],
    [' Dos ', 'of Dos'],
    ['1', 'of 1'],
    ['4', 'of 1'],
  ] as const) {
    assert.deepEqual(await namesIn(path, { sheet: wanted }), [name], wanted);
  }
  const all = '1 "Uno", 2 "Gráfico" \\(a chart\\), 3 "Dos" \\(hidden\\), 4 "1"';
  await assert.rejects(
    sourceOf(path, { sheet: 'Tres' }),
    new RegExp(`there is no sheet "Tres"\\. Sheets: ${all}`),
  );
  await assert.rejects(
    sourceOf(path, { sheet: '2' }),
    new RegExp(`2 "Gráfico" \\(a chart\\) has no cells\\. Sheets: ${all}`),
  );
});

test('errors about columns and about missing rows name the other sheets', async () => {
  const other = { name: 'Otra', rows: [['Cliente', 'Sueldo']] };
  const none = fileOf('a.xlsx', sheetsOf(other, { name: 'Datos', state: 'hidden', rows: LIST }));
  await assert.rejects(
    sourceOf(none),
    /columns with a known name: 0 of 2\. .* The file's columns: Cliente, Sueldo\. Other sheets: 2 "Datos" \(hidden\); --sheet chooses one/,
  );
  const empty = fileOf('a.xlsx', sheetsOf({ name: 'A' }, { name: 'B' }, { name: 'C', isChart: true }));
  await assert.rejects(
    sourceOf(empty),
    /a\.xlsx: no sheet has a row with columns' names: 1 "A", 2 "B" are empty\. Other sheets: 3 "C"/,
  );
  const row = fileOf(
    'a.xlsx',
    sheetsOf({ name: 'A', rows: [['x']] }, { name: 'B', rows: [[], [], ...LIST] }),
  );
  assert.deepEqual(await namesIn(row, { headerRow: 3 }), ['Ana Gómez', 'Luz']);
  await assert.rejects(
    sourceOf(row, { headerRow: 99 }),
    /row 99: --header-row names this row, and it is empty/,
  );
});

test('CSV and JSON have no sheets: the options are refused, but not for a file of rejected rows', async () => {
  for (const [name, text] of [
    ['a.csv', LIST.map((cells) => cells.join(',')).join('\n')],
    ['a.json', JSON.stringify([applicant()])],
  ] as const) {
    await assert.rejects(sourceOf(fileOf(name, text), { sheet: '1' }), /no hidden rows: leave --sheet out/);
    await assert.rejects(sourceOf(fileOf(name, text), { visibleOnly: true }), /leave --visible-only out/);
  }
  const rejected = LIST.map((cells, row) =>
    [row === 0 ? 'rejected_row,rejected_reason' : `${row},x`, ...cells].join(','),
  );
  const path = fileOf('a.rejected.csv', rejected.join('\n'));
  assert.equal((await rowsOf(path, { sheet: '1', visibleOnly: true })).length, 2);
});

test('rows that the sheet hides are marked, and left out with visibleOnly', async () => {
  const rows = [NAMES, ...['A', 'B', 'C', 'D', 'E'].map((name) => one({ name }))];
  const rowAttributes = {
    2: 'hidden="1"',
    3: 'hidden="0"',
    4: 'hidden="true"',
    5: 'ht="0" customHeight="1"',
    6: 'ht="15"',
  };
  const path = fileOf('a.xlsx', sheetsOf({ name: 'x', rows, rowAttributes }));
  assert.deepEqual(
    (await rowsOf(path)).map(({ number, isHidden = false }) => [number, isHidden]),
    [
      [2, true],
      [3, false],
      [4, true],
      [5, true],
      [6, false],
    ],
  );
  assert.deepEqual(await namesIn(path, { visibleOnly: true }), ['B', 'E']);
  const [all, visible] = [await sourceOf(path), await sourceOf(path, { visibleOnly: true })];
  assert.notDeepEqual(all.settings, visible.settings);
});

test('a note names hidden columns', async () => {
  const before =
    '<cols><col min="1" max="1" width="9"/><col min="4" max="5" hidden="1"/><col min="6" max="6" width="0"/></cols>';
  const path = fileOf('a.xlsx', sheetsOf({ name: 'x', rows: LIST, before }));
  assert.match(
    (await sourceOf(path)).notes.join(),
    /columns that the sheet hides are read too: phone, income, debt_amount/,
  );
});

test('a phone, platform or currency that is merged over rows is refused, other merged cells are not', async () => {
  const column = String.fromCharCode(65 + NAMES.indexOf('phone'));
  const rows = [['Solicitantes'], NAMES, one(), one({ phone: '' }), one({ phone: '' })];
  const merging = (...merged: string[]) => fileOf('a.xlsx', sheetsOf({ name: 'x', rows, merged }));
  await assert.rejects(
    read(merging('A1:C1', `${column}3:${column}4`)),
    /a\.xlsx, row 4, column "phone": the cell is merged with the one above: split them, and fill each one/,
  );
  await assert.rejects(read(merging(`A3:${column}5`)), /row 4, column "phone": the cell is merged/);
  for (const harmless of [
    `${column}3:${column}3`,
    'A1:J1',
    `${column}5:${column}99`,
    'A3:B3',
    'C3:C5',
    'bad',
    'XFD1:XFD1048576',
  ]) {
    assert.equal((await read(merging(harmless))).length, 3, harmless);
  }
  // Two rows for each applicant, of which one is empty.
  const pairs = [NAMES, one(), [], one({ name: 'Luz' }), []];
  const both = fileOf(
    'a.xlsx',
    sheetsOf({ name: 'x', rows: pairs, merged: [`${column}2:${column}3`, `${column}4:${column}5`] }),
  );
  assert.equal((await read(both)).length, 2);
});

test('a name of a column that is merged over a second column with values is refused', async () => {
  const rows = [
    ['name', '', ...NAMES.slice(1)],
    ['Ana', 'Gómez', ...one().slice(1)],
  ];
  const path = fileOf('a.xlsx', sheetsOf({ name: 'x', rows, merged: ['A1:B1'] }));
  await assert.rejects(
    read(path),
    /a\.xlsx, row 1, column "name": the name is merged over several columns with values/,
  );
  const empty = fileOf(
    'a.xlsx',
    sheetsOf({ name: 'x', rows: [rows[0] ?? [], ['Ana', '', ...one().slice(1)]], merged: ['A1:B1'] }),
  );
  assert.equal((await read(empty)).length, 1);
});

test('a second table with its columns in another order ends the reading, a repeated header is a row with faults', async () => {
  const turned = [...NAMES.slice(1), 'name'];
  const second = fileOf('a.xlsx', sheetsOf({ name: 'x', rows: [...LIST, [], turned, one()] }));
  await assert.rejects(read(second), /a\.xlsx, row 5: it has the names of columns again, in another order/);
  const csv = [...LIST, turned].map((cells) => cells.join(',')).join('\n');
  await assert.rejects(read(fileOf('a.csv', csv)), /a\.csv, row 4: it has the names of columns again/);
  const pages = fileOf('a.xlsx', sheetsOf({ name: 'x', rows: [...LIST, NAMES, one()] }));
  assert.equal((await read(pages)).length, 4);
});

test('the first row and the first column may be empty', async () => {
  const rows = [[], ...LIST.map((cells) => ['', ...cells])];
  assert.deepEqual(await namesIn(fileOf('a.xlsx', sheetsOf({ name: 'x', rows }))), ['Ana Gómez', 'Luz']);
  const csv = rows.map((cells) => cells.join(';')).join('\n');
  assert.deepEqual(await namesIn(fileOf('a.csv', csv)), ['Ana Gómez', 'Luz']);
});
