/** An ID number without four letters or digits proves nobody, so nobody with one gets an offer (D45, D46). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makeContract } from '../../src/subjects/signing/uses/make-contract.ts';
import { APPROVED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { testSigning } from '../support/signing.ts';
import { signingChat } from '../support/signing-chat.ts';

const store = await testDatabase();
const signing = await testSigning(store);
const { context, begin, sign, lines, run } = signing;
const { applicantAt } = await signingChat(store, signing);

// `rules/offer.test.ts` has more numbers.
it('D46: with the ID number "12-A" the person hears that a person will write, and the operator why', async () => {
  const ana = await applicantAt({ ...APPROVED, id_number: '12-A' });
  await ana.tap();
  await ana.choose(0);
  await ana.sendFile();
  await ana.choose(0);
  await ana.choose(0);
  assert.equal(await ana.place(), 'summary operator');
  assert.equal((await ana.row()).state.handedOver, 'no_offer');
  const said = (await ana.replies()).at(-1)?.text ?? '';
  assert.match(said, /Una persona/);
  assert.doesNotMatch(said, /cuota|contrato/);
  assert.match((await run('contract', 'show', `${ana.id}`)).err, /blocked by short_id_number/);
  assert.deepEqual(lines.at(-1), {
    facts: { application_id: ana.id, reason: 'short_id_number' },
    text: 'an application gets no contract',
  });
  assert.match((await run('status')).out, /short_id_number/);
});

it('D46: four letters or digits are enough, whatever stands between them', async () => {
  assert.equal((await makeContract(context, await begin({ id_number: '1.2-3 4' }))).kind, 'made');
  await sign(await begin({ id_number: '1234' }));
});
