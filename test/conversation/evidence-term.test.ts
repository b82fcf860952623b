/** The evidence of a conversation that goes on for long is kept until the signature (D46). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { forgetContracts } from '../../src/subjects/signing/sql/dropped.ts';
import { APPROVED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { shifted } from '../support/shifted.ts';
import { testSigning } from '../support/signing.ts';
import { signingChat } from '../support/signing-chat.ts';

const store = await testDatabase();
const { database, runtime } = store;
const signing = await testSigning(store);
const { applicantAt } = await signingChat(store, signing);

const kindsOf = async (id: number) => {
  const { rows } = await database.query<{ kind: string }>(
    'SELECT kind FROM contract_evidence WHERE application_id = $1 ORDER BY number',
    [id],
  );
  return rows.map(({ kind }) => kind);
};

it('D46: the consent stays proven while the conversation goes on, and goes 120 days after its end', async () => {
  const ana = await applicantAt(APPROVED);
  await ana.tap();
  await ana.choose(0);
  const consent = ['data_consent_asked', 'data_consent_given'];
  assert.deepEqual(await kindsOf(ana.id), consent);
  await database.query(
    `UPDATE loan_contracts SET made_at = ${shifted('made_at', "interval '-121 days'")} WHERE application_id = $1`,
    [ana.id],
  );
  await database.query('UPDATE elapsed SET ms = ms + 121::bigint * 86400000');
  await forgetContracts(runtime, 10);
  assert.deepEqual(await kindsOf(ana.id), consent);
  await ana.write('quiero retirarme');
  await forgetContracts(runtime, 10);
  assert.deepEqual(await kindsOf(ana.id), []);
});
