/** Whose conversation a wish to withdraw is, beside a signed contract of the same phone (D46). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BlindIndex, toApplicationId } from '../../../src/domain/application/ids.ts';
import { withdrawalOf } from '../../../src/domain/conversation/words.ts';
import type { Heard } from '../../../src/domain/message/channel-event.ts';
import type { Found } from '../../../src/subjects/conversation/sql/match.ts';
import { foundFor } from '../../../src/subjects/conversation/uses/whose.ts';

const WORDS = {
  signature: [
    'RETRACTO',
    'por favor retracto',
    'Desisto',
    'WITHDRAW',
    'quiero retractarme',
    'I want to withdraw',
  ],
  contract: ['cancelar el contrato', 'me retiro del crédito', 'cancel my loan', 'quero cancelar o contrato'],
  anything: [
    'cancelar',
    'me arrepentí',
    'cancelar mi solicitud',
    'withdraw my application',
    'quero desistir do pedido',
  ],
} as const;
const PHONE = 'phone' as unknown as BlindIndex<'phone'>;
const found = (id: string, changes: Partial<Found>): Found => ({
  ...{ id: id as Found['id'], applicationId: toApplicationId(id), phoneIndex: PHONE },
  ...{ isOpen: false, endedAt: null, isWithdrawable: false, withdrawableUntil: null, isAtContract: false },
  inputsOfHour: 0,
  mayBeginAgain: false,
  ...changes,
});
const SIGNED = found('1', { isWithdrawable: true });

/** The id of the conversation that these words belong to. */
function meant(body: string, isAtContract: boolean, answers: Found | null = null): string | undefined {
  const open = found('2', { isOpen: true, isAtContract });
  const context = answers && 'context';
  const one = { event: { kind: 'text', body, from: null }, phoneIndex: PHONE, contextIndex: context };
  return foundFor(one as unknown as Heard, {
    contexts: new Map(answers === null ? [] : [['context', answers.applicationId]]),
    applications: new Map([SIGNED, open].map((each) => [each.applicationId, each])),
    phones: new Map([[PHONE as string, open]]),
    signed: new Map([[PHONE as string, SIGNED]]),
  })?.id;
}

describe('D46: a wish to withdraw', () => {
  for (const [about, texts] of Object.entries(WORDS)) {
    it(`is about ${about}: ${texts.join(', ')}`, () => {
      for (const body of texts) {
        assert.equal(withdrawalOf(body), about, body);
        assert.equal(meant(body, false), about === 'anything' ? '2' : '1', body);
        assert.equal(meant(body, true), about === 'signature' ? '1' : '2', body);
        // The message that is answered says it, whatever the words.
        assert.equal(meant(body, false, SIGNED), '1', body);
        assert.equal(meant(body, false, found('2', { isOpen: true })), '2', body);
      }
    });
  }

  it('is none of words that mean something else: they are of the open conversation', () => {
    for (const body of ['no', 'hola', 'sí']) {
      assert.equal(withdrawalOf(body), null);
      assert.equal(meant(body, false, SIGNED), '2');
    }
  });
});
