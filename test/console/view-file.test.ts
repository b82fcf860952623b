/** The files of a view: typed cells, no formulas, and what a reader of spreadsheets finds in them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { unzipSync } from 'fflate';
import type { Cell } from '../../console/src/views/file/cell.ts';
import { csvFile } from '../../console/src/views/file/csv.ts';
import { makeFile } from '../../console/src/views/file/view-file.ts';
import { xlsxFile } from '../../console/src/views/file/xlsx.ts';
import { applicant, fileOf, rowsOf } from '../../packages/submit/test/files.ts';
import type { FileRowsReply } from '../../src/subjects/desk/routes/view-forms.ts';

/** What a spreadsheet may take for a formula, and what breaks cells. */
const FORMULAS = ['=1+1', '+1', '-1', '@x', '\tx', '\rx', '=HYPERLINK("http://x","y")'];
const HOSTILE = [...FORMULAS, 'a"b', 'a,b', 'a\nb', '<script>&amp;</script>', 'ñandú 👍', ' a '];
const AT = new Date('2026-11-22T10:11:12.987Z');

const csvOf = async (rows: Cell[][]) => {
  const file = csvFile(['Número', 'x']);
  for (const row of rows) file.add([row]);
  // `text()` would leave out the mark at the beginning.
  return Buffer.from(await file.end().arrayBuffer()).toString();
};
const bytesOf = async (rows: Cell[][], title = 'x') => {
  const file = xlsxFile(title, ['Número', 'x']);
  for (const row of rows) file.add([row]);
  return Buffer.from(await file.end().arrayBuffer());
};
/** The text of an entry that `bytesOf` wrote. */
const entryOf = (zip: Buffer, name: string) => Buffer.from(unzipSync(zip)[name]!).toString();

it('CSV has numbers as numbers, times in UTC, quoted texts, and no formula', async () => {
  assert.equal(
    await csvOf([
      [-1.5, AT],
      [null, 'a"b'],
    ]),
    '\ufeffNúmero,x\r\n-1.5,2026-11-22 10:11:12\r\n,"a""b"\r\n',
  );
  for (const text of FORMULAS) {
    const [, line = ''] = /\r\n(.*)\r\n$/s.exec(await csvOf([[1, text]])) ?? [];
    assert.ok(/^1,"?'/.test(line), text);
  }
});

it('XLSX has numbers and times as such, and every text as a text, also one that begins as a formula', async () => {
  const rows: Cell[][] = [[-1.5, AT], ...HOSTILE.map((text, index) => [index, text])];
  const sheet = entryOf(await bytesOf(rows), 'xl/worksheets/sheet1.xml');
  assert.match(sheet, /<c r="A2"><v>-1\.5<\/v><\/c><c r="B2" s="1"><v>46348\.4244/);
  assert.doesNotMatch(sheet, /<f[ >]|<script/);
  const quoted = [...sheet.matchAll(/ s="2" t="inlineStr"/g)];
  assert.equal(quoted.length, FORMULAS.length);
});

it('the reader of spreadsheets of this project reads the rows of a workbook', async () => {
  const names = Object.keys(applicant());
  const file = xlsxFile('[Por pagar]: 1/2', names);
  const values = [applicant(), applicant({ name: '=Ana & "Luz" <b>', income: 1_234_567.5 })];
  for (const one of values)
    file.add([Object.values(one).map((cell) => (typeof cell === 'boolean' ? `${cell}` : cell))]);
  const path = fileOf('view.xlsx', Buffer.from(await file.end().arrayBuffer()));
  const rows = await rowsOf(path);
  assert.equal(rows.length, 2);
  assert.ok(JSON.stringify(rows[1]).includes(JSON.stringify('=Ana & "Luz" <b>').slice(1, -1)));
});

it('a file takes the rows of each answer until there are no more, and none where it is given up', async () => {
  const item = {
    ...{
      id: 7,
      partner: { id: 1, name: '=Uno' },
      status: null,
      score: null,
      currency: 'COP',
      debt_amount: 5,
    },
    ...{ created_at: AT.toISOString(), at: AT.toISOString(), proposed: null },
  } as const;
  const asked: unknown[] = [];
  const ask = async (place: { readonly rows?: number }): Promise<FileRowsReply> => {
    asked.push(place);
    const rows = (place.rows ?? 0) + 1;
    return { applications: [item], rows, next: rows < 3 ? `c${rows}` : null, is_cut: rows === 3 };
  };
  const making = { format: 'csv', title: 'x', head: ['Número'], ask } as const;
  const made = await makeFile({ ...making, onRows: () => true });
  assert.deepEqual([made?.rows, made?.isCut], [3, true]);
  assert.deepEqual(asked, [{}, { cursor: 'c1', rows: 1 }, { cursor: 'c2', rows: 2 }]);
  const text = await made!.file.text();
  assert.equal(
    text.split('\r\n').filter((line) => line.startsWith("7,'=Uno,,,COP,5,2026-11-22 10:11:12")).length,
    3,
  );
  assert.equal(await makeFile({ ...making, onRows: (rows) => rows < 2 }), null);
});
