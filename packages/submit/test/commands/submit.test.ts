/** `ventanilla submit` against a real service: requests, texts and refusals. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { anApplication, testService } from '../../../../test/support/service.ts';
import type { FileRow } from '../../src/read/table.ts';
import { type Applicant, csvOf, fileOf, rowsOf, xlsxOf } from '../files.ts';
import { submit, summary } from './submit-harness.ts';

const service = await testService();
const { url } = service;

function applicants(count: number, changes: (index: number) => object = () => ({})): Applicant[] {
  return Array.from({ length: count }, (_, index) => anApplication({ ...changes(index) }) as Applicant);
}

async function used(apiKey: string): Promise<number> {
  const response = await fetch(`${url}/PRO`, { headers: { 'X-API-Key': apiKey } });
  return ((await response.json()) as { partner: { used_24h: number } }).partner.used_24h;
}

test('a whole file is sent; rejected rows come back, are corrected and sent again', async () => {
  const { apiKey } = await service.addPartner();
  const list = applicants(230, (index) => ({
    ...(index % 3 === 0 && { phone: null }),
    ...(index === 7 && { income: -5 }),
    ...(index === 120 && { city: '', debt_age: 'old' }),
  }));
  // In the same batch, because of two batches either may be first.
  list.push({ ...(list[220] as Applicant), id_number: 'again' });
  const path = fileOf('a.csv', csvOf(list, ';'));
  const { code, said } = await summary(apiKey, path, '--url', url);
  assert.equal(code, 2);
  const { registered, ...rest } = said;
  assert.equal(
    Object.values(registered as number[]).reduce((sum, rows) => sum + rows, 0),
    228,
  );
  assert.deepEqual(
    [rest.rows, rest.invalid, rest.duplicate, rest.unreadable, rest.not_sent, rest.stopped],
    [231, 2, 1, 0, 0, null],
  );
  assert.equal(await used(apiKey), 228);

  const rejected = readFileSync(rest.rejected_file, 'utf8');
  assert.deepEqual(
    Array.from(rejected.matchAll(/\r\n(\d+);("[^"]*"|[^;]*);/g), ([, row, reason]) => [row, reason]),
    [
      ['9', 'income is required and must be > 0 (numeric)'],
      ['122', '"city is required; debt_age is required and must be one of: lt6, 6a12, 1a2, gt2"'],
      ['232', 'a request already exists for this messaging-channel number'],
    ],
  );
  const corrected = rejected
    .replace(';-5;', ';5000;')
    .replace(";'-5;", ';5000;')
    .replace(';old;', ';gt2;')
    .replace(';"";', ';Cali;')
    .replace(/(122;.*?;10\d+;);/, '$1Cali;');
  writeFileSync(rest.rejected_file, corrected);
  const again = await summary(apiKey, rest.rejected_file, '--url', `${url}/PRO`);
  assert.deepEqual([again.code, again.said.invalid, again.said.duplicate], [2, 0, 1]);
  assert.equal(await used(apiKey), 230);

  const third = await summary(apiKey, path, '--url', url);
  assert.deepEqual([third.code, third.said.rows, await used(apiKey)], [2, 231, 230]);
  assert.match(third.err, /were settled on/);
});

const reason = (row: FileRow | undefined) => String(row?.cells[1]);
const values = ({ cells }: FileRow) => cells.toSpliced(1, 1);

test("the dry run finds the service's faults, one by one", async () => {
  const { apiKey } = await service.addPartner({ country: 'CO' });
  const odd = fc.constantFrom<string | number | boolean | null>(
    '',
    ' ',
    'x',
    'x'.repeat(250),
    'a\u0007b',
    '1500',
    0,
    -1,
    '1e999',
    '1.5e6',
    '15%',
    2,
    '3',
    'GT2',
    'SI',
    'sí',
    true,
    false,
    'TRUE',
    'sure',
    null,
    '3001234567',
    '+57 300 123 4567',
    '+99077777777',
    '+0123456789',
    '123',
    '2024-01-05',
  );
  const field = fc.constantFrom(...Object.keys(anApplication()));
  const changes = fc.array(fc.tuple(field, odd), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs));
  const property = fc.asyncProperty(fc.array(changes, { minLength: 5, maxLength: 40 }), async (list) => {
    const people = list.map((one, index) => ({
      ...anApplication(),
      id_number: `${index}`,
      ...one,
    })) as Applicant[];
    for (const path of [
      fileOf('a.csv', csvOf(people)),
      fileOf('a.jsonl', people.map((one) => JSON.stringify(one)).join('\n')),
      fileOf('a.xlsx', xlsxOf(people)),
    ]) {
      const dry = await submit({}, path, '--dry-run', '--sandbox', '--country', 'CO', '--json');
      const rejectedRows = () => rowsOf(`${path}.rejected.csv`);
      const found = JSON.parse(dry.out).refused > 0 ? await rejectedRows() : [];
      writeFileSync(`${path}.rejected.csv`, '');
      const sent = await summary(apiKey, path, '--url', url, '--sandbox');
      assert.deepEqual(
        [dry.code, sent.said.rejected_file === null],
        [sent.code, found.length === 0],
        sent.err,
      );
      const refused = found.length === 0 ? [] : await rejectedRows();
      assert.deepEqual(refused.map(values), found.map(values));
      for (const [index, row] of refused.entries()) {
        const [told, foundBefore] = [reason(row), reason(found[index])];
        // A row with a cell that cannot be read is not sent, so that the service tells no fault of its other cells.
        assert.equal(told, told.startsWith('column ') ? foundBefore.slice(0, told.length) : foundBefore);
      }
    }
  });
  await fc.assert(property, { numRuns: 8 });
});

test('a file that was not shown, or cannot be read whole, is not sent', async () => {
  const { apiKey } = await service.addPartner();
  const csv = csvOf(applicants(3));
  const xlsx = xlsxOf(applicants(3));
  const good = fileOf('a.csv', csv);
  const pipe = join(dirname(good), 'p.csv');
  execFileSync('mkfifo', [pipe]);
  const cases: [args: string[], answer: string | undefined, error: RegExp][] = [
    [[good], undefined, /there is no terminal to ask on\. Check with --dry-run, then add --yes/],
    [[good], 'no', /nothing was sent/],
    [[good], '', /nothing was sent/],
    [
      [fileOf('a.csv', csv.replaceAll('3200000', '3.200')), '--yes'],
      undefined,
      /a\.csv, row 2, column "income": .*--decimal/,
    ],
    [[fileOf('a.csv', csv.replace('income', 'sueldo')), '--yes'], undefined, /a\.csv: no column for income/],
    [[fileOf('a.xlsx', xlsx.subarray(0, -9)), '--yes'], undefined, /a\.xlsx: it is damaged/],
    [[fileOf('a.csv', `${csv}"x`), '--yes'], undefined, /a\.csv, row 5.*never closed/],
    [[`${good}.not-there`, '--yes'], undefined, /there is no such file/],
    [[good, '--map', 'sueldo=income', '--yes'], undefined, /there is no such field/],
    [[good, '--decimal', 'dot', '--yes'], undefined, /--decimal must be one of: comma, point/],
    [[good, '--consent-values', 'yes', '--yes'], undefined, /--consent-values/],
    [[good, '--nonsense'], undefined, /^error: unknown option '--nonsense' \(add --help/],
    [[good, '--header-row', '9'.repeat(20)], undefined, /too large/],
    // A pipe that nobody writes to.
    [[pipe, '--yes'], undefined, /p\.csv: it is not a file/],
  ];
  for (const [args, answer, error] of cases) {
    const { code, err } = await submit(
      { apiKey, ...(answer !== undefined && { answer }) },
      ...args,
      '--url',
      url,
    );
    assert.match(err, error);
    assert.equal(code, 1, err);
    assert.equal(existsSync(`${args[0]}.ventanilla-journal`), false);
  }
  assert.equal(await used(apiKey), 0);
});

test('the key comes from the environment, the URL from the command line, and the error names a missing one', async () => {
  const path = fileOf('a.csv', csvOf(applicants(1)));
  const keyless = await submit({}, path, '--url', url, '--yes');
  assert.match(keyless.err, /^error: VENTANILLA_API_KEY is not set/, 'before the file is read and shown');
  assert.equal(keyless.out, '');
  assert.match((await submit({ apiKey: 'x' }, path, '--yes')).err, /--url is missing/);
  for (const [given, error] of [
    ['nowhere', /^error: --url must be a URL that begins with https/],
    ['ftp://host/PRO', /^error: --url must be a URL that begins with https/],
    ['https://ana:pw@host/PRO', /^error: --url must have neither a user/],
  ] as const) {
    const { out, err } = await submit({ apiKey: 'x' }, path, '--url', given, '--yes');
    assert.match(err, error);
    assert.equal(out, '', 'before the file is shown');
  }
  const spaced = await submit({ apiKey: 'a b' }, path, '--url', url, '--yes');
  assert.match(spaced.err, /^error: VENTANILLA_API_KEY must be the API key as it was issued/);
  assert.match((await submit({ apiKey: 'x' }, path, '--url', `${url}/DEV`, '--yes')).err, /add --sandbox/);
  const wrong = await submit({ apiKey: 'x' }, path, '--url', url, '--yes');
  assert.match(wrong.err, /refused the API key/);
  assert.equal(wrong.code, 1);
});

test('values are shown on a terminal before the question, and never without a terminal', async () => {
  const { apiKey } = await service.addPartner();
  const list = applicants(2).map((one) => ({ ...one, income: '1.500.000,50', debt_age: 'Más de 2 años' }));
  const file = fileOf('a.csv', csvOf(list));
  const words = ['--map', 'debt_age:Más de 2 años=gt2'];
  const shown = await submit({ apiKey, answer: 'yes' }, file, '--url', url, ...words);
  assert.equal(shown.code, 0, shown.err);
  assert.match(shown.out, /income: 2 converted \(thousands separators\)/);
  assert.match(shown.out, /income +1500000\.5 +\(in the file: 1\.500\.000,50\)/);
  assert.match(shown.out, /debt_age +"gt2" +\(in the file: Más de 2 años\)/);
  assert.match(shown.out, /registered, \w+ +2/);
  const hidden = await submit({ apiKey }, fileOf('a.csv', csvOf(applicants(2))), '--url', url, '--yes');
  assert.doesNotMatch(hidden.out + hidden.err, /Ana|Bogot|\+57300/);
  assert.match(hidden.out, /FIELD +COLUMN/);
});

test('a phone without country code needs --country in a dry run, and the error names the row', async () => {
  const path = fileOf('a.csv', csvOf(applicants(2).map((one) => ({ ...one, phone: '3001234567' }))));
  const without = await submit({}, path, '--dry-run');
  assert.equal(without.code, 1);
  assert.match(without.err, /a\.csv, row 2, column "phone": .*--country CO/);
  assert.equal((await submit({}, path, '--dry-run', '--country', 'co')).code, 0);
});

test('a sandbox run stores nothing, can be repeated, and takes reserved phones', async () => {
  const { apiKey } = await service.addPartner();
  const path = fileOf('a.csv', csvOf(applicants(120)));
  const reserved = fileOf('a.csv', csvOf(applicants(1, () => ({ phone: '+99077777777' }))));
  assert.equal((await submit({}, reserved, '--dry-run')).code, 2);
  assert.equal((await submit({}, reserved, '--dry-run', '--sandbox')).code, 0);
  for (const _ of [1, 2]) {
    const { code, said } = await summary(apiKey, path, '--url', `${url}/PRO`, '--sandbox');
    assert.deepEqual([code, said.rows, said.url], [0, 120, `${url}/DEV`]);
  }
  assert.equal(await used(apiKey), 0);
  assert.equal((await summary(apiKey, path, '--url', url)).said.rows, 120);
  assert.equal(await used(apiKey), 120);
});

test('a reader of the output that leaves does not stop the submission, and the exit code stays right', async () => {
  const { apiKey } = await service.addPartner();
  const list = applicants(4, (index) => (index === 3 ? { city: '' } : {}));
  const path = fileOf('a.csv', csvOf(list));
  for (const [args, registered] of [
    [['--dry-run', '--country', 'CO'], 0],
    [['--url', url, '--yes'], 3],
    [['--url', url, '--yes', '--json'], 3],
  ] as const) {
    const { code, err } = await submit({ apiKey, failsWith: 'EPIPE' }, path, ...args);
    assert.equal(code, 2, err);
    assert.doesNotMatch(err, /error|goes on/);
    assert.equal(await used(apiKey), registered);
  }
});

test('a failing standard output is an error before anything is sent', async () => {
  const { apiKey } = await service.addPartner();
  const path = fileOf('a.csv', csvOf(applicants(3)));
  const { code, err } = await submit({ apiKey, failsWith: 'ENOSPC' }, path, '--url', url, '--yes');
  assert.deepEqual([code, await used(apiKey)], [1, 0]);
  assert.match(err, /^error: write ENOSPC/);
});
