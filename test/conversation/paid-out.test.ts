/** The right to withdraw after a payment that operators decided before its end (D46). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { APPROVED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { testSigning } from '../support/signing.ts';
import { signingChat } from '../support/signing-chat.ts';

const store = await testDatabase();
const signing = await testSigning(store);
const { json } = signing;
const { applicantAt, person, hear, settle, faults, signed } = await signingChat(store, signing);

it('D46: a newer conversation that ended does not hide the signature that may be withdrawn', async () => {
  const ana = await signed();
  const override = ['--override', '--second', 'Luis', '--as', 'ana', '--reason', 'ticket 1'];
  await json('application', 'disburse', `${ana.id}`, ...override);
  await settle();
  // The payment has freed the phone: it has another application, and another conversation.
  const next = await applicantAt({ ...APPROVED, phone: ana.phone });
  const again = person(next.id, ana.phone);
  await again.tap();
  await again.choose(1);
  assert.equal(await again.place(), 'declined service');
  await ana.write('RETRACTO');
  assert.equal(await ana.place(), 'signed operator', String(faults));
  const said = (await ana.replies()).at(-1)?.text ?? '';
  assert.match(said, /Registramos que te retiras[\s\S]*Una persona/);
  assert.doesNotMatch(said, /ya pasó/, 'the time is not over');
  const { evidence } = await json('contract', 'show', `${ana.id}`, '--json');
  assert.ok(evidence.some(({ kind }: { kind: string }) => kind === 'withdrawal_asked'));
});

/** A signed contract that was paid out early, and a newer conversation of the same phone that is open. */
async function withNewer() {
  const ana = await signed();
  const override = ['--override', '--second', 'Luis', '--as', 'ana', '--reason', 'ticket 1'];
  await json('application', 'disburse', `${ana.id}`, ...override);
  await settle();
  const next = await applicantAt({ ...APPROVED, phone: ana.phone });
  const again = person(next.id, ana.phone);
  await again.tap();
  return { ana, again };
}

describe('D46: a wish to withdraw beside a newer open conversation', () => {
  // `rules/withdrawal.test.ts` has the words.
  it('"RETRACTO" reaches the signed contract, and the newer conversation goes on', async () => {
    const { ana, again } = await withNewer();
    await ana.write('RETRACTO');
    assert.deepEqual([await ana.place(), await again.place()], ['signed operator', 'data_consent service']);
    assert.match((await ana.replies()).at(-1)?.text ?? '', /Registramos que te retiras/);
  });

  it('a letter with the caption "RETRACTO" reaches it too', async () => {
    const { ana, again } = await withNewer();
    await hear({ ...(await ana.fileEvent()), caption: 'RETRACTO' } as ChannelEvent);
    await settle();
    assert.deepEqual([await ana.place(), await again.place()], ['signed operator', 'data_consent service']);
    assert.match((await ana.replies()).at(-1)?.text ?? '', /Registramos que te retiras/);
  });

  it('"cancelar" ends the newer conversation, and the signed contract stays', async () => {
    const { ana, again } = await withNewer();
    await ana.write('cancelar');
    assert.deepEqual([await ana.place(), await again.place()], ['signed service', 'withdrawn service']);
  });

  it('any words in answer to a message mean the conversation of that message', async () => {
    for (const isOfSigned of [true, false]) {
      const { ana, again } = await withNewer();
      const { id } = isOfSigned ? ana : again;
      await hear({
        ...(await ana.textEvent(isOfSigned ? 'cancelar' : 'RETRACTO')),
        contextMessageId: `wamid.${id}`,
      } as ChannelEvent);
      await settle();
      const places = isOfSigned
        ? ['signed operator', 'data_consent service']
        : ['signed service', 'withdrawn service'];
      assert.deepEqual([await ana.place(), await again.place()], places);
    }
  });
});
