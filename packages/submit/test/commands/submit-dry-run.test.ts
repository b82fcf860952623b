/** What `ventanilla submit --dry-run` says of words, amounts, phones and columns, and the options that it offers. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { anApplication } from '../../../../test/support/service.ts';
import { REPOSITORY } from '../../../../test/support/sources.ts';
import { type Applicant, csvOf, fileOf } from '../files.ts';
import { submit } from './submit-harness.ts';

const fileWith = (changes: object) =>
  fileOf('a.csv', csvOf([{ ...anApplication(), ...changes } as Applicant]));

test('a dry run shows the words without a value, with the options that give them one', async () => {
  const path = fileWith({ debt_age: 'Más de 2 años', prior_history: 'Sí', messaging_optin: 'acepto' });
  const { code, out } = await submit({}, path, '--dry-run');
  assert.equal(code, 2);
  assert.match(out, /\n {2}debt_age: "Más de 2 años" \(1 row\)\n {2}prior_history: "Sí" \(1 row\)\n/);
  assert.match(out, /\n {2}--map "debt_age:Más de 2 años=gt2"\n {2}--map "prior_history:Sí=yes"\n/);
  assert.match(out, /\n {2}--consent-values "acepto\/no"\n/);
  assert.match(out, /\n {2}debt_age: lt6, 6a12, 1a2, gt2\n {2}prior_history: yes, no\n/);
  // The field that did not fail is not named.
  assert.doesNotMatch(out, /num_debts:/);
  const options = ['--map', 'debt_age:Más de 2 años=gt2', '--map', 'prior_history:Sí=yes'];
  const settled = await submit({}, path, '--dry-run', ...options, '--consent-values', 'acepto/no');
  assert.deepEqual([settled.code, settled.out.includes('--map ')], [0, false], settled.out);
  const json = JSON.parse((await submit({}, path, '--dry-run', '--json')).out);
  assert.deepEqual(json.unknown_words[0], {
    field: 'debt_age',
    words: [{ word: 'Más de 2 años', rows: 1, first_row: 2 }],
    options: ['--map "debt_age:Más de 2 años=gt2"'],
  });
});

test('a field without a value, and other faults, are no words', async () => {
  for (const changes of [{ income: '-5' }, { debt_age: '' }]) {
    const { code, out } = await submit({}, fileWith(changes), '--dry-run');
    assert.deepEqual([code, /--map|Words/.test(out)], [2, false], out);
  }
});

test('$ beside a currency column or --country is an amount in that currency', async () => {
  const money = { income: '$ 3.200.000', debt_amount: '$ 6.000.000' };
  const { currency: _, ...rest } = anApplication();
  const without = fileOf('a.csv', csvOf([{ ...rest, phone: null, ...money } as Applicant]));
  assert.equal((await submit({}, fileWith(money), '--dry-run')).code, 0);
  assert.equal((await submit({}, without, '--dry-run', '--country', 'CO')).code, 0);
  const { code, out } = await submit({}, without, '--dry-run');
  assert.equal(code, 2);
  assert.match(out, /the sign \$ may mean pesos or dollars: .* or add --country/);
});

test('a dry run says what the phones are: countries always, numbers on a terminal alone', async () => {
  const rows = [
    { phone: '3005550101' },
    { phone: '+52 55 5550 0205', currency: 'MXN' },
    { phone: '+52 55 5550 0206', currency: 'COP' },
    { phone: null },
  ].map((changes) => ({ ...anApplication(), ...changes }) as Applicant);
  const path = fileOf('a.csv', csvOf(rows));
  const piped = await submit({}, path, '--dry-run', '--country', 'CO');
  assert.match(piped.out, /\nPhones: 1 Colombia \(CO\), 2 Mexico \(MX\), 1 without a phone\n/);
  assert.match(piped.out, / {2}1 without country code, read for a partner of Colombia \(CO\)\n/);
  assert.match(piped.out, / {2}1 whose country has another currency than the amounts of the row\n/);
  assert.doesNotMatch(piped.out, /5550205|300555|→/);
  const seen = await submit({ answer: '' }, path, '--dry-run', '--country', 'CO');
  assert.match(seen.out, /row 2: 3005550101 → \+573005550101, Colombia \(CO\), COP\n/);
  assert.match(seen.out, /row 4: \+52 55 5550 0206 → \+525555500206, Mexico \(MX\), COP\n/);
});

test('a dry run ends with an error where a column looks like a field and is not sent, also with --json', async () => {
  const { phone, ...rest } = anApplication();
  const path = fileOf('a.csv', csvOf([{ ...rest, 'Llamar a': phone } as Applicant]));
  for (const more of [[], ['--json'], ['--yes']]) {
    const { code, err } = await submit({}, path, '--dry-run', ...more);
    assert.equal(code, 1);
    assert.match(err, /^error: a\.csv: columns that look like fields are not sent: "Llamar a" \(phones/m);
    assert.match(err, /\n\s+--map "phone=Llamar a" {3}--ignore "Llamar a"\n/);
  }
  const { out } = await submit({}, path, '--dry-run', '--json');
  assert.deepEqual(JSON.parse(out).unsent_columns, [
    { column: 'Llamar a', options: ['--map "phone=Llamar a"', '--ignore "Llamar a"'] },
  ]);
  assert.equal((await submit({}, path, '--dry-run', '--ignore', 'Llamar a')).code, 0);
  assert.equal((await submit({}, path, '--dry-run', '--map', 'phone=Llamar a')).code, 0);
});

test('the example file is read', async () => {
  const path = fileOf('a.csv', readFileSync(join(REPOSITORY, 'examples/applicants.csv'), 'utf8'));
  const { code, out } = await submit({}, path, '--dry-run');
  assert.deepEqual([code, /5 rows checked, 4 can be sent, 1 cannot/.test(out)], [2, true], out);
});
