/** `ventanilla submit`: what people are told of a file's rows, sheets and columns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applicant, csvOf, fileOf, sheetsOf } from '../files.ts';
import { submit } from './submit-harness.ts';

const NAMES = Object.keys(applicant());
const row = (name: string) => Object.values({ ...applicant({ name }), messaging_optin: 'true' }).map(String);

test('a file without applicants is an error in every format, also with --url', async () => {
  const csv = `${NAMES.join(',')}\n`;
  const sheets = [
    { name: 'Hoja1', rows: [NAMES] },
    { name: 'Datos', rows: [NAMES, row('Ana')] },
  ];
  const files: [name: string, content: string | Buffer, text: RegExp][] = [
    ['a.csv', csv, /a\.csv: below the columns' names in row 1 it holds no applicants$/],
    ['a.csv', `\ufeff${csv}${','.repeat(NAMES.length - 1)}\n \n`, /in row 1 it holds no applicants$/],
    ['a.csv', `sep=,\r\n${csv}`, /in row 2 it holds no applicants$/],
    ['a.csv', Buffer.from(`\ufeff${csv}`, 'utf16le'), /in row 1 it holds no applicants$/],
    ['a.json', '[]', /a\.json: it holds no applicants$/],
    ['a.json', '{"applications": []}', /a\.json: it holds no applicants$/],
    ['a.xlsx', sheetsOf(sheets[0]!), /a\.xlsx: below the columns' names in row 1 it holds no applicants$/],
    ['a.xlsx', sheetsOf(...sheets), /holds no applicants\. Other sheets: 2 "Datos"; --sheet chooses one$/],
  ];
  for (const [name, content, text] of files) {
    for (const args of [['--dry-run'], ['--url', 'http://127.0.0.1:9/PRO', '--yes']]) {
      const { code, err } = await submit({ apiKey: 'x' }, fileOf(name, content), ...args);
      assert.equal(code, 1, err);
      assert.match(err.trim(), text);
    }
  }
});

test('hidden rows are told and sent, --visible-only leaves them out', async () => {
  const rowAttributes = { 3: 'hidden="1"', 4: 'hidden="1"' };
  const rows = [NAMES, row('A'), row('B'), row('C')];
  const path = fileOf('a.xlsx', sheetsOf({ name: 'x', rows, rowAttributes }));
  const all = await submit({}, path, '--dry-run');
  assert.match(
    all.out,
    /Hidden in the sheet, and not left out: 2 rows, the first is row 3\. --visible-only leaves hidden rows out\./,
  );
  assert.match(all.out, /3 rows checked/);
  const json = await submit({}, path, '--dry-run', '--json');
  assert.deepEqual([JSON.parse(json.out).rows, JSON.parse(json.out).hidden], [3, 2]);
  assert.match(json.err, /Hidden in the sheet/);
  const visible = await submit({}, path, '--dry-run', '--visible-only');
  assert.match(visible.out, /1 row checked/);
  assert.doesNotMatch(visible.out, /Hidden/);
  const none = fileOf(
    'a.xlsx',
    sheetsOf({
      name: 'x',
      rows: rows.slice(0, 1).concat(rows.slice(2)),
      rowAttributes: { 2: 'hidden="1"', 3: 'hidden="1"' },
    }),
  );
  const { code, err } = await submit({}, none, '--dry-run', '--visible-only');
  assert.deepEqual(
    [code, err.trim()],
    [1, "error: a.xlsx: below the columns' names in row 1 it holds no applicants that the sheet shows"],
  );
});

test('--sheet chooses the sheet, and an error lists the sheets and the columns', async () => {
  const path = fileOf(
    'a.xlsx',
    sheetsOf({ name: 'Uno', rows: [NAMES, row('A')] }, { name: 'Dos', rows: [NAMES, row('B'), row('C')] }),
  );
  assert.match(
    (await submit({}, path, '--dry-run', '--sheet', 'Dos')).out,
    /only 2 "Dos" is read.*2 rows checked/s,
  );
  assert.match((await submit({}, path, '--dry-run', '--sheet', '1')).out, /1 row checked/);
  const wrong = await submit({}, path, '--dry-run', '--sheet', 'Tres');
  assert.deepEqual(
    [wrong.code, /there is no sheet "Tres"\. Sheets: 1 "Uno", 2 "Dos"/.test(wrong.err)],
    [1, true],
  );
  const other = fileOf('a.csv', csvOf([{ Cliente: 'Ana', Sueldo: 'x' }]));
  assert.match((await submit({}, other, '--dry-run')).err, /The file's columns: Cliente, Sueldo/);
});

test('a list with Portuguese names of columns is read', async () => {
  const names = [
    'Nome',
    'CPF',
    'Cidade',
    'Celular',
    'Renda',
    'Valor da dívida',
    'Número de dívidas',
    'Tempo de atraso',
    'Histórico',
    'Consentimento',
  ];
  const { code, err } = await submit(
    {},
    fileOf('a.csv', [names, row('João')].map((cells) => cells.join(';')).join('\n')),
    '--dry-run',
  );
  assert.equal(code, 0, err);
});
