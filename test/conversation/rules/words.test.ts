/** What texts mean, and that a text which also stops the messages keeps what it says (D43). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DEFAULT_FLOW } from '../../../src/domain/conversation/default-flow.ts';
import { asksToStop, type Meaning, meaningsOf } from '../../../src/domain/conversation/words.ts';
import { contract, run, SHA, said, stepped, text, wayTo } from './support.ts';

const COURTESY = {
  es: [
    ...[
      'por favor',
      'gracias',
      'muchas gracias',
      'mil gracias',
      'hola',
      'buenas',
      'buenas tardes',
      'buenos días',
    ],
    ...['porfa', 'señores', 'amigo', 'ya', 'no me interesa', 'no me interesa más'],
  ],
  pt: [
    'obrigada',
    'obrigado',
    'por gentileza',
    'olá',
    'oi',
    'bom dia',
    'boa noite',
    'senhor',
    'não me interessa',
    'já',
  ],
  en: ['please', 'thanks', 'thank you', 'hello', 'hi'],
};
const REFUSES = {
  es: ['no autorizo', 'no los autorizo', 'yo no autorizo', 'no autorizo el tratamiento de mis datos'],
  pt: ['não autorizo'],
  en: ['I do not agree'],
};
const WITHDRAWS = {
  es: [
    ...[
      'cancelar',
      'cancelen',
      'quiero retirarme',
      'me quiero retirar',
      'me deseo retirar',
      'retirarme',
      'retirar',
    ],
    ...[
      'retírenme',
      'retírame',
      'revoco',
      'revocar',
      'retiro mi autorización',
      'quiero revocar la autorización',
    ],
    ...[
      'deseo retirar mi consentimiento',
      'ya no quiero',
      'ya no deseo nada más',
      'me arrepentí',
      'RETRACTO',
    ],
  ],
  pt: [
    'cancelar',
    'cancela',
    'cancelem',
    'não quero mais',
    'n quero mais',
    'já não quero mais nada',
    'desisto',
  ],
  en: ['cancel', 'revoke', 'withdraw', 'I want to withdraw'],
};
const each = (words: Readonly<Record<string, readonly string[]>>) =>
  fc.constantFrom(...Object.values(words).flat());
const courtesies = fc.array(each(COURTESY), { maxLength: 3 });
const joint = fc.constantFrom(' ', ', ', '. ', '\n', '!! ');

describe('words of courtesy, and words that are said twice (D43)', () => {
  for (const [meaning, words] of [
    ['no', REFUSES],
    ['withdraw', WITHDRAWS],
  ] as const) {
    it(`leave "${meaning}" what it is, also where the text stops the messages as well`, () => {
      fc.assert(
        fc.property(
          courtesies,
          each(words),
          fc.boolean(),
          courtesies,
          joint,
          (before, word, twice, after, by) => {
            const body = [...before, word, ...(twice ? [word] : []), ...after].join(by);
            if (body.length > 120) return;
            assert.ok(meaningsOf(word).has(meaning), word);
            assert.ok(meaningsOf(body).has(meaning) || meaningsOf(body).has('withdraw'), body);
            if (asksToStop(word)) assert.ok(asksToStop(body), body);
          },
        ),
        { numRuns: 2_000 },
      );
    });
  }

  const CASES: readonly (readonly [string, Meaning | null])[] = [
    ['Sí, gracias', 'yes'],
    ['Acepto. Muchas gracias', 'accept'],
    ['Buenas tardes, acepto', 'accept'],
    ['ok gracias', 'thanks'],
    ['ok, no me interesa', null],
    ['no me interesa, acepto', null],
    // "I have paid", with or without its accent.
    ['ya cancelé', null],
    ['Ya cancele', null],
  ];
  for (const [body, meaning] of CASES) {
    it(`"${body}" means ${meaning ?? 'nothing'}`, () => {
      assert.deepEqual([...meaningsOf(body)].slice(0, 1), meaning === null ? [] : [meaning]);
    });
  }
});

describe('a question (D43, D46)', () => {
  const ANSWERS = [
    'sí',
    'acepto',
    'ok',
    'no',
    'no acepto',
    'cancelo',
    'cancelar',
    'retracto',
    'desisto',
    'listo',
    'omitir',
  ];
  it('consents to nothing, and accepts, refuses and withdraws nothing', () => {
    for (const answer of ANSWERS) {
      for (const body of [`¿${answer}?`, `${answer}?`, `${answer}？`])
        assert.deepEqual([...meaningsOf(body)], [], body);
      assert.ok(meaningsOf(answer).size > 0, answer);
    }
    for (const place of ['data_consent', 'summary', 'contract'] as const) {
      for (const body of [
        '¿Sí?',
        '¿Sí, autorizo?',
        '¿Acepto?',
        'acepto?',
        '¿Acepto',
        '¿No acepto?',
        '¿cancelo?',
      ]) {
        const { state } = stepped(DEFAULT_FLOW, run(wayTo(place)).state, text(body));
        assert.deepEqual([state.place, state.heldBy], [place, 'service'], body);
      }
    }
  });

  it('says neither yes nor no where both stand beside a comma: the question comes again', () => {
    for (const body of ['No, acepto', 'no. acepto el contrato', 'Não, aceito', 'No, I accept', 'nooo, sí']) {
      assert.deepEqual([...meaningsOf(body)], [], body);
      for (const place of ['data_consent', 'contract'] as const) {
        const { state } = stepped(DEFAULT_FLOW, run(wayTo(place)).state, text(body));
        assert.deepEqual([state.place, state.heldBy], [place, 'service'], body);
      }
    }
    for (const body of ['no acepto', 'No', 'No, gracias', 'Não aceito'])
      assert.ok(meaningsOf(body).has('no'), body);
  });

  it('may ask for a person or another code', () => {
    assert.ok(meaningsOf('¿Puedo hablar con un asesor?').has('person'));
    assert.ok(meaningsOf('¿otro código?').has('resend'));
  });

  it('that asks for no more messages stops them, and withdraws no signature: an operator reads it', () => {
    assert.ok(asksToStop('¿cancelar?'));
    const before = stepped(DEFAULT_FLOW, run(wayTo('contract')).state, text('¿cancelar?')).state;
    assert.deepEqual([before.place, before.optedOut], ['closed', true]);
    const signed = { ...run(wayTo('signed')).state, withdrawableUntilMs: 1 };
    const after = stepped(DEFAULT_FLOW, signed, text('¿cancelar?')).state;
    assert.deepEqual([after.place, after.optedOut, after.handedOver], ['signed', true, 'withdrawal']);
  });
});

describe('"se equivocaron" and its like (D43)', () => {
  const BARE = [
    'Se equivocaron',
    'está equivocado',
    'te equivocaste',
    'no soy yo',
    'foi engano',
    'não sou eu',
    'not me',
  ];
  for (const body of BARE) {
    it(`"${body}" is of another person up to the consent, and later may be about anything`, () => {
      const other = stepped(DEFAULT_FLOW, run(wayTo('data_consent')).state, text(body));
      assert.deepEqual([other.state.wrongPerson, said(other)], [true, ['wrong_person']]);
      for (const place of ['earnings', 'debts', 'summary', 'contract', 'code', 'signed'] as const) {
        const { state } = stepped(DEFAULT_FLOW, run(wayTo(place)).state, text(body));
        assert.deepEqual([state.wrongPerson, state.place, state.heldBy], [false, place, 'service']);
      }
    });
  }

  it('with the number or the person named, it is of another person everywhere', () => {
    for (const body of [
      'se equivocaron de número',
      'ya no es su número',
      'no conozco a nadie con ese nombre',
      'numero errado',
    ])
      assert.equal(
        stepped(DEFAULT_FLOW, run(wayTo('summary')).state, text(body)).state.wrongPerson,
        true,
        body,
      );
  });
});

describe('"not yet" (D43)', () => {
  for (const body of ['Todavía no', 'aún no', 'ahora no', 'ainda não', 'not yet', 'Más tarde, gracias']) {
    it(`"${body}" ends nothing, however often, and the question stays with its buttons`, () => {
      for (const place of ['data_consent', 'earnings', 'debts', 'summary', 'contract', 'code'] as const) {
        let { state } = run(wayTo(place));
        for (let times = 0; times < 4; times += 1) {
          const after = stepped(DEFAULT_FLOW, state, text(body));
          assert.deepEqual([after.state.place, after.state.heldBy], [place, 'service']);
          assert.equal(said(after)[0], 'no_hurry');
          assert.ok(after.effects.some((effect) => effect.kind === 'say' && effect.isQuestion));
          state = after.state;
        }
      }
    });
  }
});

describe('a refusal while the signature is proven (D46)', () => {
  const proving = () => run(wayTo('code')).state;
  for (const proof of ['none', 'code_asked', 'code_sent'] as const) {
    it(`refuses the contract, and a bare "no" asks about it once more (${proof})`, () => {
      for (const body of [
        'No acepto',
        'no quiero firmar',
        'no acepto el contrato',
        'não aceito',
        "I don't accept",
      ]) {
        const after = stepped(DEFAULT_FLOW, { ...proving(), proof }, text(body));
        assert.deepEqual([after.state.place, said(after)], ['declined', ['declined']], body);
        assert.ok(after.effects.some((effect) => effect.kind === 'evidence' && effect.act === 'declined'));
      }
      const asked = stepped(DEFAULT_FLOW, { ...proving(), proof }, text('No.'));
      assert.deepEqual(
        [asked.state.place, asked.state.acceptedContract, asked.state.proof],
        ['contract', null, 'none'],
      );
      const shown = stepped(DEFAULT_FLOW, asked.state, contract(SHA));
      assert.equal(said(shown).at(-1), 'contract');
      assert.equal(stepped(DEFAULT_FLOW, shown.state, text('no')).state.place, 'declined');
    });
  }
});
