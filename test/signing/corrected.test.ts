/** A correction beside contracts (docs/subject.md, "Correct"): a shown one ends its time, a signed one stays (D46). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { testDatabase } from '../support/database.ts';
import { testSigning } from '../support/signing.ts';

const store = await testDatabase();
const { begin, json, make, prove, consent, accept, run, sign } = await testSigning(store);
const correct = (id: ApplicationId, field: string, value: string) =>
  json('subject', 'correct', '--application', `${id}`, '--field', field, '--value', value, '--reason', 'x');
const states = async (id: ApplicationId) =>
  (
    await store.database.query(
      'SELECT state, encode(sha256, $2) AS sha256 FROM loan_contracts WHERE application_id = $1 ORDER BY id',
      [id, 'hex'],
    )
  ).rows;

it('a contract that is shown cannot be signed any more, and the next one has the corrected data', async () => {
  const id = await begin({ name: 'Ana Mal' });
  const { sha256 } = await make(id);
  await consent(id);
  await prove(id);
  await correct(id, 'name', 'Ana Bien');
  assert.equal((await states(id))[0].state, 'expired');
  assert.notEqual(await accept(id, sha256), 'signed');
  assert.notEqual((await make(id)).sha256, sha256);
  assert.deepEqual(
    (await states(id)).map(({ state }) => state),
    ['expired', 'open'],
  );
});

it('a fact of the score leaves a shown contract as it is', async () => {
  const id = await begin();
  await make(id);
  await correct(id, 'income', '9999999');
  assert.equal((await states(id))[0].state, 'open');
});

it('a signed contract stays as it was signed, and the command says so', async () => {
  const id = await begin({ name: 'Ana Mal' });
  await sign(id);
  const before = await states(id);
  const { signed_contract_stays: stays } = await correct(id, 'name', 'Ana Bien');
  assert.equal(stays, true);
  assert.deepEqual(await states(id), before);
  const args = ['--application', `${id}`, '--field', 'city', '--value', 'Neiva', '--reason', 'x'];
  const { out } = await run('subject', 'correct', ...args);
  assert.match(out, /The signed contract stays as it was signed, with the old value\.\n/);
});
