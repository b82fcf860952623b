/** What `ventanilla submit` shows and asks before it sends, against a real service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anApplication, testService } from '../../../../test/support/service.ts';
import { type Applicant, csvOf, fileOf, sheetsOf } from '../files.ts';
import { submit, summary } from './submit-harness.ts';

const service = await testService();
const { url } = service;
const file = (...rows: Record<string, unknown>[]) =>
  fileOf('a.csv', csvOf(rows.map((row) => ({ ...anApplication(), ...row }) as Applicant)));

async function phonesOf(partnerId: unknown): Promise<string[]> {
  const { rows } = await service.database.query(
    'SELECT currency FROM applications WHERE partner_id = $1 ORDER BY id',
    [partnerId],
  );
  return rows.map(({ currency }) => currency);
}

test("D11: the question shows the numbers as the service reads them, for the partner's country", async () => {
  const { apiKey } = await service.addPartner({ country: 'MX' });
  const path = file(
    { phone: '55 5550 0205', currency: 'MXN' },
    { phone: '+57 319 555 0019', currency: 'COP' },
    { phone: '+57 319 555 0020', currency: 'MXN' },
  );
  const { out } = await submit({ apiKey, answer: 'no' }, path, '--url', url);
  assert.match(out, /phone +"55 5550 0205" {3}→ \+525555500205, Mexico \(MX\)\n/);
  assert.match(out, /phone +"\+57 319 555 0019" {3}→ \+573195550019, Colombia \(CO\)\n/);
  assert.match(out, /\nPhones: 1 Mexico \(MX\), 2 Colombia \(CO\)\n/);
  assert.match(
    out,
    /1 without country code, read for a partner of Mexico \(MX\):\n {4}row 2: 55 5550 0205 → \+525555500205/,
  );
  assert.match(
    out,
    /1 whose country has another currency than the amounts of the row:\n {4}row 4: .*, MXN\n/,
  );
});

test('D11: a phone that two countries could mean is shown with both numbers', async () => {
  const { apiKey } = await service.addPartner({ country: 'MX' });
  const path = file({ phone: '319 (555) 0019', currency: 'COP' }, { phone: '(1) 234 5678', currency: 'COP' });
  const { out } = await submit({ apiKey, answer: 'no' }, path, '--url', url);
  assert.match(out, /\n {2}2 that the service refuses: write the country code:\n/);
  assert.match(
    out,
    /row 2: 319 \(555\) 0019 → \+523195550019, Mexico \(MX\) or \+573195550019, Colombia \(CO\)\?\n/,
  );
  assert.match(out, /row 3: \(1\) 234 5678\n/);
  const piped = await submit({}, path, '--dry-run', '--country', 'MX');
  assert.match(piped.out, /2 that the service refuses: write the country code\n/);
  assert.doesNotMatch(piped.out, /0019|5678/);
});

test('--country that is not the country of the partner is refused: its phones would be those of others', async () => {
  const { apiKey } = await service.addPartner({ country: 'MX' });
  const { code, err } = await submit({ apiKey }, file({}), '--url', url, '--yes', '--country', 'CO');
  assert.equal(code, 1);
  assert.match(err, /--country CO: for the service your partner's country is MX/);
  assert.equal((await summary(apiKey, file({}), '--url', url, '--country', 'MX')).code, 0);
});

test("$ is taken in the currency of the partner's country, which the service tells", async () => {
  const { apiKey, partnerId } = await service.addPartner({ country: 'CL' });
  const { currency: _, ...rest } = anApplication({ phone: null });
  const person = { ...rest, income: '$ 320.000,50', debt_amount: '$ 600.000,50' } as Applicant;
  const { code, err } = await summary(apiKey, fileOf('a.csv', csvOf([person])), '--url', url);
  assert.equal(code, 0, err);
  assert.deepEqual(await phonesOf(partnerId), ['CLP']);
});

test('a sandbox run that is repeated reads $ as the first one did, and so does a run after one that sent nothing', async () => {
  const { apiKey } = await service.addPartner({ country: 'CO' });
  const path = file({ phone: null, income: '$ 3.200.000', currency: null });
  for (const more of [['--sandbox'], ['--sandbox'], []]) {
    const { code, err } = await summary(apiKey, path, '--url', url, ...more);
    assert.equal(code, 0, err);
  }
});

test('rows that the service will refuse, and words without a value, are told before the question', async () => {
  const { apiKey } = await service.addPartner();
  const path = file({}, { debt_age: 'Más de 2 años' }, { debt_age: 'más de 2 años', income: '' });
  const asked: string[] = [];
  const { code, out, err } = await submit({ apiKey, answer: 'no', asked }, path, '--url', url);
  assert.deepEqual([code, asked.length], [1, 1], err);
  assert.match(out, /debt_age is required and must be one of.* {2}2 +3\n/);
  assert.match(out, /--map "debt_age:Más de 2 años=gt2"/);
  assert.match(out, /Rows that are sent, and that the service will refuse: 2\./);
});

test('columns that look like fields stop the submission, with --yes and --json too; on a terminal they are asked about', async () => {
  const { apiKey } = await service.addPartner();
  const { phone, ...rest } = anApplication();
  const path = fileOf('a.csv', csvOf([{ ...rest, 'Llamar a': phone } as Applicant]));
  for (const more of [[], ['--yes'], ['--yes', '--json']]) {
    const { code, out, err } = await submit({ apiKey }, path, '--url', url, ...more);
    assert.equal(code, 1);
    assert.match(
      err,
      /"Llamar a" \(phones.*Nothing was sent\..*--map "phone=Llamar a" {3}--ignore "Llamar a"/s,
    );
    assert.equal(more.includes('--json') ? out : '', '');
  }
  const asked: string[] = [];
  const refused = await submit({ apiKey, answer: 'no', asked }, path, '--url', url);
  assert.deepEqual([refused.code, asked], [1, ['Leave them out? (y/n) ']]);
  // As a Mac writes the accent.
  const sent = await submit({ apiKey, answer: ' Si\u0301 ', asked }, path, '--url', url);
  assert.deepEqual([sent.code, asked.at(-1)], [0, 'Send them? (y/n) '], sent.err);
});

test('a resumed run reads the rows as the first one did, in any language', async () => {
  const { apiKey } = await service.addPartner({ dailyCap: 1 });
  const path = file({ income: '$ 3.200.000' }, {});
  const first = await summary({ apiKey, env: { LANG: 'es_CO.UTF-8' } }, path, '--url', url);
  assert.deepEqual([first.code, first.said.not_sent], [3, 1], first.err);
  const again = await summary(apiKey, path, '--url', url);
  assert.deepEqual([again.code, again.said.not_sent], [3, 1], again.err);
});

test('D24: the reasons of the service come in the language of the command', async () => {
  const { apiKey } = await service.addPartner();
  const row = anApplication();
  const path = fileOf(
    'a.xlsx',
    sheetsOf({ name: 'x', rows: [Object.keys(row), Object.values(row).map(String)] }),
  );
  assert.equal((await summary(apiKey, path, '--url', url, '--lang', 'es')).code, 0);
  const twice = fileOf('b.csv', csvOf([{ ...row, id_number: '77' } as Applicant]));
  const results = fileOf('r.csv', '');
  const { code } = await summary(apiKey, twice, '--url', url, '--lang', 'es', '--results', `${results}.csv`);
  assert.equal(code, 2);
  const { readFileSync } = await import('node:fs');
  assert.match(readFileSync(`${results}.csv`, 'utf8'), /ya existe una solicitud para este número/);
});
