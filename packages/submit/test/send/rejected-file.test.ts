/** The file of rejected rows: it runs no formula in a spreadsheet, and can be submitted again. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { RejectedFile } from '../../src/send/row-files.ts';
import { allOf, applicant, applicationsOf, csvOf, fileOf, rowsOf, sourceOf, xlsxOf } from '../files.ts';

/** Rejects every row of a file. Resolves to the path of the file of rejected rows. */
async function reject(path: string): Promise<string> {
  const source = await sourceOf(path);
  const rejected = new RejectedFile(`${path}.rejected.csv`, source.table.columns, source.delimiter);
  for (const row of await allOf(source.table.rows())) await rejected.add(row, 'a reason; and another');
  await rejected.finish();
  return rejected.path;
}

test('rows come back unchanged, however often they are rejected', async () => {
  const cell = fc.oneof(
    fc.stringMatching(/^['=+@\t-]{0,3}[\p{L}\n",;' 0-9]{0,8}$/u),
    fc.constantFrom('=1+1', '+573001234567', "'+57", "''=x", '@a', '-5', '\tx', '1.500'),
  );
  const property = fc.asyncProperty(
    fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 5 }),
    fc.constantFrom(',', ';', '\t'),
    async (list, delimiter) => {
      const path = fileOf(
        'a.csv',
        csvOf(
          list.map(([city, extra]) => applicant({ city, 'Nota; x': extra })),
          delimiter,
        ),
      );
      const once = await reject(path);
      const twice = await reject(once);
      for (const again of [once, twice]) {
        const [before, after] = [await rowsOf(path), await rowsOf(again)];
        assert.deepEqual(
          after.map(({ cells }) => cells.slice(2)),
          before.map(({ cells }) => cells),
        );
      }
      assert.deepEqual(await applicationsOf(twice), await applicationsOf(path));
    },
  );
  await fc.assert(property, { numRuns: 25 });
});

test('no cell begins like a formula, not even in the header', async () => {
  const evil = ['=cmd()', '+1', '-1', '@x', '\t=1', '\r=1', "'=1"];
  const path = fileOf('a.csv', csvOf(evil.map((value) => applicant({ city: value, '=evil()': value }))));
  const text = readFileSync(await reject(path), 'utf8').slice(1);
  for (const start of text.matchAll(/(?:^|,|\r\n)"?([=+\-@\t\r])/g)) assert.fail(`${start.index}`);
  assert.match(text, /^rejected_row,rejected_reason,/);
  assert.match(text, /\r\n2,a reason; and another,/);
});

test('only its owner may read the file', async () => {
  const path = await reject(fileOf('a.csv', csvOf([applicant()])));
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('numbers of XLSX and JSON come back as the same numbers', async () => {
  const list = [1.125, 999.999, 1234.567, 0.5, 1e21, 3_200_000].map((income) => applicant({ income }));
  for (const path of [fileOf('a.xlsx', xlsxOf(list)), fileOf('a.json', JSON.stringify(list))]) {
    assert.deepEqual(await applicationsOf(await reject(path)), await applicationsOf(path));
  }
});

test('an edited file is kept; a file that only grew is replaced', async () => {
  const path = fileOf('a.csv', csvOf([applicant(), applicant({ name: 'b' })]));
  const source = await sourceOf(path);
  const [first, second] = await rowsOf(path);
  assert.ok(first && second);
  const write = async (...rows: (typeof first)[]) => {
    const rejected = new RejectedFile(`${path}.rejected.csv`, source.table.columns, ',');
    for (const row of rows) await rejected.add(row, 'x');
    return rejected.finish();
  };
  assert.deepEqual(await write(), { rows: 0, kept: null, isOld: false });
  assert.deepEqual(await write(first), { rows: 1, kept: null, isOld: false });
  assert.deepEqual(await write(first, second), { rows: 2, kept: null, isOld: false });
  assert.deepEqual(await write(), { rows: 0, kept: null, isOld: true });
  writeFileSync(`${path}.rejected.csv`, 'corrected');
  const { kept } = await write(first, second);
  assert.equal(kept, `${path}.rejected.1.csv`);
  assert.equal(readFileSync(kept, 'utf8'), 'corrected');
});

test('a submitted file moves with its journal, so that its submission goes on', async () => {
  const path = fileOf('a.csv', csvOf([applicant()]));
  const rejected = await reject(path);
  writeFileSync(`${rejected}.ventanilla-journal`, 'the journal');
  writeFileSync(`${path}.rejected.1.csv.ventanilla-journal-dev`, 'of another');
  const before = readFileSync(rejected, 'utf8');
  await reject(path);
  assert.equal(readFileSync(`${path}.rejected.2.csv`, 'utf8'), before);
  assert.equal(readFileSync(`${path}.rejected.2.csv.ventanilla-journal`, 'utf8'), 'the journal');
  assert.equal(existsSync(`${rejected}.ventanilla-journal`), false);
  assert.equal(readFileSync(`${path}.rejected.1.csv.ventanilla-journal-dev`, 'utf8'), 'of another');
});

test('a journal whose file is gone does not stop the next file', async () => {
  const path = fileOf('a.csv', csvOf([applicant()]));
  const rejected = await reject(path);
  writeFileSync(`${rejected}.ventanilla-journal`, 'the journal');
  rmSync(rejected);
  assert.equal((await rowsOf(await reject(path))).length, 1);
  assert.equal(existsSync(`${rejected}.ventanilla-journal`), false);
  assert.equal(readFileSync(`${path}.rejected.1.csv.ventanilla-journal`, 'utf8'), 'the journal');
});

test('the header of the file is its first row, also with the --header-row of the original file', async () => {
  const list = [applicant(), applicant({ name: 'b' }), applicant({ name: 'c' })];
  const path = fileOf('a.csv', `Solicitantes, noviembre\n\n${csvOf(list, ';')}`);
  const rejected = await reject(path);
  for (const headerRow of [3, null]) assert.deepEqual(await applicationsOf(rejected, { headerRow }), list);
});

test('the file is read as UTF-8, also with the --encoding of the original file', async () => {
  const list = [applicant({ name: 'Zoë Ñandú', phone: '+573001234567' })];
  const path = await reject(fileOf('a.csv', csvOf(list)));
  for (const encoding of ['Windows-1252', 'UTF-16LE', 'UTF-8'] as const) {
    assert.deepEqual(await applicationsOf(path, { encoding }), list);
  }
});
