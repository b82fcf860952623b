/** A signed contract is taken back in the person's own words, which no list has (D45, D46). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DEFAULT_FLOW } from '../../../src/domain/conversation/default-flow.ts';
import { LANGUAGES } from '../../../src/domain/conversation/flow.ts';
import { newState, type State } from '../../../src/domain/conversation/state.ts';
import { mayWithdraw, meaningsOf, withdrawalOf } from '../../../src/domain/conversation/words.ts';
import { said, stepped, text } from './support.ts';

const SIGNED: State = {
  ...newState('pending_signature', 1),
  place: 'signed',
  withdrawableUntilMs: 1,
  lastDayToWithdraw: '4 de diciembre de 2026',
};
const CLEAR = [
  ...['RETRACTO', 'Retracto, gracias', '"RETRACTO"', 'deseo ejercer mi derecho de retracto', 'Me retracto'],
  ...[
    'Buenas tardes, deseo ejercer mi derecho de retracto',
    'Retracto del contrato 2',
    'Retracto del contrato N.º 2',
  ],
  ...[
    'Me retracto del crédito',
    'RETRACTO DEL CRÉDITO',
    'hago uso del derecho de retracto',
    'desisto do empréstimo',
  ],
  ...[
    'quero desistir do empréstimo',
    'Desejo exercer meu direito de arrependimento',
    'me arrepiento',
    'me arrependo',
  ],
  ...[
    'quiero anular el contrato',
    'no quiero el crédito',
    'I want to withdraw from my loan',
    'I would like to withdraw',
  ],
];
const OWN = [
  ...[
    'quiero anular el contrato, me retracto',
    'RETRACTO Ana Gómez',
    'quiero devolver el crédito',
    'retrato',
  ],
  ...[
    'Cambié de idea',
    'mudei de ideia, obrigado',
    'ya no quiero seguir con esto',
    'cancelen todo de una vez',
  ],
  ...[
    '¿RETRACTO?',
    '¿cancelar?',
    'quero me retirar do contrato que assinei ontem',
    'i do not want this any more',
  ],
  'Yo, Ana Gómez, identificada con cédula 1431789818, ejerzo mi derecho de retracto del contrato de crédito número 2 ' +
    'firmado el 27 de noviembre de 2026.',
];

describe('D46: after the signature, while the law gives the time', () => {
  for (const body of CLEAR) {
    it(`"${body}" withdraws at once`, () => {
      assert.equal(stepped(DEFAULT_FLOW, SIGNED, text(body)).state.place, 'withdrawn');
    });
  }

  for (const body of OWN) {
    it(`"${body.slice(0, 50)}" goes to an operator, and the person hears the word and the last day`, () => {
      for (const toldEnd of [false, true]) {
        const { state, effects } = stepped(DEFAULT_FLOW, { ...SIGNED, toldEnd }, text(body));
        assert.deepEqual([state.place, state.heldBy, state.handedOver], ['signed', 'operator', 'withdrawal']);
        if (state.optedOut) return assert.deepEqual(said({ state, effects }), []);
        assert.deepEqual(said({ state, effects }), ['withdrawal_word', 'person_will_write']);
        const word = effects.find((effect) => effect.kind === 'say' && effect.text === 'withdrawal_word');
        assert.deepEqual(word?.kind === 'say' && word.values, { until: SIGNED.lastDayToWithdraw });
      }
    });
  }

  it('a word of the right is never without an answer, whatever stands around it', () => {
    const word = fc.constantFrom(
      'retracto',
      'Retractarme',
      'desisto',
      'arrepiento',
      'arrependimento',
      'withdraw',
      'anulo',
    );
    const around = fc.array(
      fc.constantFrom('yo', 'Ana', 'del', 'contrato', '2', 'x'.repeat(200), 'á.', '\n'),
    );
    fc.assert(
      fc.property(around, word, around, fc.boolean(), (before, some, after, optedOut) => {
        const body = [...before, some, ...after].join(' ');
        const { state } = stepped(DEFAULT_FLOW, { ...SIGNED, optedOut, toldEnd: true }, text(body));
        assert.ok(state.place === 'withdrawn' || state.handedOver === 'withdrawal', body);
      }),
    );
  });

  it('the word that each language names withdraws', () => {
    for (const language of LANGUAGES) {
      for (const key of ['withdrawal_word', 'withdrawal_right'] as const) {
        const word = DEFAULT_FLOW.texts[language][key].match(/[A-Z]{4,}/)?.[0] ?? '';
        assert.equal(stepped(DEFAULT_FLOW, SIGNED, text(word)).state.place, 'withdrawn', word);
      }
    }
  });

  it('who holds it for another reason reads the new one; a clear word still withdraws', () => {
    const held: State = { ...SIGNED, heldBy: 'operator', handedOver: 'asked' };
    const after = stepped(DEFAULT_FLOW, held, text('RETRACTO Ana Gómez'));
    assert.deepEqual([after.state.handedOver, said(after)], ['withdrawal', []]);
    assert.equal(stepped(DEFAULT_FLOW, after.state, text('RETRACTO')).state.place, 'withdrawn');
  });

  it('any other text hears of the right and its last day; a file does each time, because nobody reads it', () => {
    const hello = stepped(DEFAULT_FLOW, SIGNED, text('¿cuándo me pagan?'));
    assert.deepEqual(said(hello), ['after_signed', 'withdrawal_right', 'person_hint']);
    assert.deepEqual(said(stepped(DEFAULT_FLOW, hello.state, text('¿cuándo?'))), []);
    for (const media of ['document', 'audio'] as const) {
      const file = stepped(DEFAULT_FLOW, hello.state, { kind: 'file', media });
      assert.ok(said(file).includes('withdrawal_right'));
    }
  });

  it('once the time is over, nothing of this', () => {
    const { state } = stepped(DEFAULT_FLOW, SIGNED, { kind: 'withdrawal_over' });
    for (const body of ['RETRACTO Ana Gómez', 'hola'])
      assert.deepEqual(said(stepped(DEFAULT_FLOW, state, text(body))), ['after_signed', 'person_hint']);
  });

  it('a wish that is not understood belongs to the signed contract where it has words of that right', () => {
    assert.equal(withdrawalOf('RETRACTO Ana Gómez'), 'signature');
    assert.equal(withdrawalOf('quiero desistir ya mismo de mi nueva solicitud'), null);
    assert.equal(withdrawalOf('quiero cancelar toda la deuda'), null);
  });

  it('every word that withdraws may withdraw', () => {
    for (const body of [...CLEAR, ...OWN]) assert.ok(mayWithdraw(body), body);
    for (const body of CLEAR) assert.ok(meaningsOf(body).has('withdraw'), body);
  });
});
