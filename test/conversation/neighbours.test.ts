/** The signing as a conversation uses it: from the offer to the signature and the withdrawal (D43, D45, D46). */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import type { Proven } from '../../src/domain/evidence/evidence.ts';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inTransaction, type Transaction } from '../../src/ground/postgres/database.ts';
import { performerOf, signingOf } from '../../src/subjects/conversation/uses/neighbours.ts';
import { verifyContract } from '../../src/subjects/signing/uses/verify-contract.ts';
import { Simulator } from '../../src/subjects/simulator/channel.ts';
import { testDatabase } from '../support/database.ts';
import { testSigning } from '../support/signing.ts';

/** These steps read no file and no income. */
const NO_FILES = { documents: undefined as never, income: undefined as never };

const store = await testDatabase();
const { context, codes, begin, lastFourOf, partner } = await testSigning(store);
const simulator = new Simulator(async () => {}, machineClock);
after(() => simulator.close());
const performer = performerOf({ ...NO_FILES, signing: context, channel: simulator });
const signing = signingOf(store.vault);
const orderOf = (applicationId: ApplicationId) => ({
  ...{ applicationId, partnerId: partner as PartnerId, locale: 'es-CO' },
  signal: new AbortController().signal,
});

it('D43, D46: an applicant who accepts and proves both things signs, and may withdraw', async () => {
  const id = await begin();
  const order = orderOf(id);
  const offer = await performer.offer(order);
  assert.ok(offer !== null && typeof offer === 'object' && 'amount' in offer);
  assert.deepEqual(
    [offer.amount, offer.net, offer.months, offer.rateName],
    ['$ 6.000.000', '$ 5.970.000', '24', 'Valor total unificado (VTU)'],
  );
  const contract = await performer.makeContract(order);
  assert.ok(contract !== null && typeof contract === 'object' && 'mediaId' in contract);
  assert.equal(simulator.files.get(contract.mediaId)?.contentType, 'application/pdf');
  // The same contract again, under another id of the channel.
  const again = await performer.makeContract(order);
  assert.ok(
    again !== null && typeof again === 'object' && 'mediaId' in again && again.sha256 === contract.sha256,
  );
  const inTurn = <T>(work: (session: Parameters<typeof signing.sign>[0]) => Promise<T>) =>
    inTransaction(store.runtime, work);
  await inTurn((session) =>
    signing.recordEvidence(session, [
      {
        applicationId: id,
        entries: [
          { kind: 'data_consent_given', at: new Date(), facts: { turn: 1 } },
          { kind: 'contract_shown', at: new Date(), facts: { turn: 3, sha256: contract.sha256 } },
          {
            kind: 'contract_accepted',
            at: new Date(),
            facts: { turn: 4, input: '9', sha256: contract.sha256 },
          },
        ],
      },
    ]),
  );
  const last = await lastFourOf(id);
  const proven = <Result>(prove: (session: Transaction) => Promise<Proven<Result>>) =>
    inTurn(async (session) => {
      const { result, evidence } = await prove(session);
      await signing.recordEvidence(session, [{ applicationId: id, entries: evidence }]);
      return result;
    });
  assert.equal(await proven((session) => signing.checkAnswer(session, id, 'last_four', last)), 'right');
  assert.deepEqual(await performer.sendCode(order), { result: 'sent', way: 'SMS', minutes: 10 });
  assert.deepEqual(await performer.sendCode(order), { result: 'sent_again', way: 'SMS', minutes: 10 });
  assert.equal(await proven((session) => signing.checkAnswer(session, id, 'code', codes.last)), 'right');
  const acceptance = { contract: contract.sha256, acceptedInput: '9', shownTurn: 3 };
  assert.equal(await proven((session) => signing.sign(session, id, acceptance)), 'signed');
  const verified = await verifyContract(context, id);
  assert.equal(verified?.checks.find(({ name }) => name === 'signature')?.fault, null);
  assert.equal(await proven((session) => signing.withdraw(session, id, null)), 'withdrawn');
});

it('D46: a code that the way does not take now is sent later, and a refused one is an operator’s', async () => {
  const id = await begin();
  const order = orderOf(id);
  await performer.makeContract(order);
  const last = await lastFourOf(id);
  await inTransaction(store.runtime, (session) => signing.checkAnswer(session, id, 'last_four', last));
  codes.result = { kind: 'later', reason: 'http_503' };
  assert.deepEqual(await performer.sendCode(order), { retryAfterMs: 0, reason: 'http_503' });
  codes.result = { kind: 'failed', reason: '21211' };
  assert.deepEqual(await performer.sendCode(order), { result: 'failed', way: 'SMS', minutes: 10 });
  codes.result = { kind: 'sent', messageId: 'SM1' };
});

it('D45: without terms there is no offer and no contract', async () => {
  const id = await begin();
  const blocked = performerOf({ ...NO_FILES, signing: { ...context, terms: null }, channel: simulator });
  const order = orderOf(id);
  assert.equal(await blocked.offer(order), null);
  assert.equal(await blocked.makeContract(order), null);
});
