/** The hints of `ventanilla submit --dry-run`: what a person may add for words that the service does not know. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anApplication } from '../../support/service.ts';
import { type Applicant, csvOf, fileOf } from '../files.ts';
import { submit } from './submit-harness.ts';

const fileWith = (changes: object) =>
  fileOf('a.csv', csvOf([{ ...anApplication(), ...changes } as Applicant]));

test('a dry run says how words of the file get a value, for the fields with such faults alone', async () => {
  const words = await submit({}, fileWith({ debt_age: 'Más de 2 años', prior_history: 'Sí' }), '--dry-run');
  assert.equal(words.code, 2);
  assert.match(words.out, /--map "debt_age:WORD=gt2"/);
  assert.match(words.out, /debt_age: lt6, 6a12, 1a2, gt2/);
  assert.match(words.out, /prior_history: yes, no/);
  assert.doesNotMatch(words.out, /num_debts:|messaging_optin:/);
  assert.doesNotMatch(words.out, /Más de/, 'values of rows are shown on a terminal only');

  const consent = await submit({}, fileWith({ messaging_optin: 'sí' }), '--dry-run');
  assert.match(consent.out, /--map "messaging_optin:WORD=false"/);
  assert.match(consent.out, /messaging_optin: true, false/);

  const other = await submit({}, fileWith({ income: '-5' }), '--dry-run');
  assert.deepEqual([other.code, other.out.includes('--map')], [2, false]);
});

test('with the words that the hint asks for, the row can be sent', async () => {
  const path = fileWith({ debt_age: 'Más de 2 años', prior_history: 'Sí' });
  const maps = ['--map', 'debt_age:Más de 2 años=gt2', '--map', 'prior_history:Sí=yes'];
  const { code, out } = await submit({}, path, '--dry-run', ...maps);
  assert.deepEqual([code, out.includes('WORD')], [0, false]);
});
