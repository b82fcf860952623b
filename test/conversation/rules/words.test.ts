/** What texts mean, and that a text which also stops the messages keeps what it says (D43). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DEFAULT_FLOW } from '../../../src/conversation/rules/default-flow.ts';
import type { Input } from '../../../src/conversation/rules/input.ts';
import { askAgain } from '../../../src/conversation/rules/questions.ts';
import {
  asksToStop,
  type Meaning,
  mayWithdraw,
  meaningsOf,
  withdrawalOf,
} from '../../../src/conversation/rules/words.ts';
import { contract, file, run, SHA, said, stepped, text, wayTo } from './support.ts';

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

const GREETINGS = {
  es: [
    ...[
      'hola',
      '¿hola?',
      'Holaaa!',
      'buenas',
      'buenos días',
      'buenas tardes',
      'Muy buenas noches',
      'buen día',
    ],
    ...[
      '¿hay alguien?',
      '¿Hay alguien ahí?',
      '¿alguien ahí?',
      '¿están ahí?',
      '¿Siguen ahí?',
      '¿me leen?',
      'aló',
    ],
    ...[
      'hola hola',
      'hola, buenas tardes',
      'Hola, ¿hay alguien?',
      'hola 👋',
      'hola, por favor',
      'hola señores',
    ],
  ],
  pt: [
    'oi',
    'Olá',
    'oi, bom dia',
    'boa tarde',
    'boa noite',
    'tem alguém aí?',
    'alguém aí?',
    'vocês estão aí?',
  ],
  en: [
    ...['hi', 'hello', 'hey', 'Hi there', 'good morning', 'good afternoon', 'good evening', 'hello hello'],
    ...['anyone there?', 'is anybody there?', 'are you there?', 'hello, anyone there?'],
  ],
};
const ASKING = ['data_consent', 'earnings', 'debts', 'summary', 'contract', 'code'] as const;

describe('a greeting (D43, D46)', () => {
  for (const body of Object.values(GREETINGS).flat()) {
    it(`"${body}" means that alone: it consents, accepts, declines and withdraws nothing, and the question comes again`, () => {
      assert.deepEqual([...meaningsOf(body)], ['greeting']);
      assert.deepEqual([asksToStop(body), withdrawalOf(body), mayWithdraw(body)], [false, null, false]);
      for (const place of [...ASKING, 'checking', 'signed'] as const) {
        const before = run(wayTo(place)).state;
        const after = stepped(DEFAULT_FLOW, before, text(body));
        const { place: now, heldBy, misunderstood, acceptedContract, nonce } = after.state;
        assert.deepEqual(
          [now, heldBy, misunderstood, acceptedContract, nonce],
          [place, 'service', 0, before.acceptedContract, before.nonce],
        );
        // The signed contract may come again.
        const acts = after.effects.filter(({ kind }) => kind !== 'say' && kind !== 'work');
        assert.deepEqual(acts, []);
        assert.ok(!said(after).includes('not_understood'));
      }
      for (const place of ASKING)
        assert.deepEqual(
          stepped(DEFAULT_FLOW, run(wayTo(place)).state, text(body)).effects,
          askAgain(run(wayTo(place)).state),
        );
    });
  }

  it('is none where anything else is meant, or where the text says more', () => {
    for (const [body, meaning] of [
      ['Hola, sí', 'yes'],
      ['hola gracias', 'thanks'],
      ['hola ya', 'done'],
      ['Buenas, acepto', 'accept'],
      ['No, hola', 'no'],
      ['hola, cancelar', 'withdraw'],
      ['¿Hola? ¿otro código?', 'resend'],
    ] as const)
      assert.deepEqual([...meaningsOf(body)], [meaning], body);
    for (const body of [
      'hola, no me interesa',
      'no me interesa, hola',
      'hola qué es esto',
      'hay alguien que robe',
    ])
      assert.deepEqual([...meaningsOf(body)], [], body);
  });

  it('also at what an income source asks for', () => {
    const atLink = { ...run(wayTo('checking')).state, income: 'open_link' } as const;
    assert.deepEqual(said(stepped(DEFAULT_FLOW, atLink, text('hola'))), ['open_link_again']);
    const atCode = { ...atLink, income: 'enter_code' } as const;
    assert.deepEqual(said(stepped(DEFAULT_FLOW, atCode, text('¿hola?'))), ['enter_code']);
  });

  it('hands nothing over however often, and is answered five times a day: two machines do not greet for ever', () => {
    for (const place of ASKING) {
      let { state } = run(wayTo(place));
      for (const day of [1, 2]) {
        for (let times = 1; times <= 8; times += 1) {
          const after = stepped(DEFAULT_FLOW, state, text(['hola', '¿hay alguien?', 'buenas'][times % 3]!));
          assert.equal(said(after).length > 0, times <= 5, `${place} ${day} ${times}`);
          assert.deepEqual([after.state.heldBy, after.state.repeats], ['service', 0]);
          ({ state } = after);
        }
        ({ state } = stepped(DEFAULT_FLOW, state, { kind: 'next_day' }));
      }
    }
  });

  it('is answered again after an answer', () => {
    const greeted = run([...wayTo('earnings'), ...Array.from({ length: 7 }, () => text('hola'))]).state;
    const { state } = stepped(DEFAULT_FLOW, greeted, file);
    assert.deepEqual(said(stepped(DEFAULT_FLOW, state, text('hola'))), ['earnings_again']);
  });

  it('between texts that are not understood leaves their count: the third of them brings an operator', () => {
    for (const place of ASKING) {
      const inputs = ['hola', 'xyz', 'hola', 'qué', '¿hola?'].map(text);
      const { state } = run([...wayTo(place), ...inputs]);
      assert.deepEqual([state.heldBy, state.misunderstood], ['service', 2]);
      assert.equal(stepped(DEFAULT_FLOW, state, text('hm')).state.handedOver, 'not_understood');
    }
  });

  it('does nothing while an operator speaks, and brings the whole question where it was not told', () => {
    const held = run([...wayTo('summary'), text('asesor')]).state;
    assert.deepEqual(stepped(DEFAULT_FLOW, held, text('hola')), { state: held, effects: [] });
    const { state } = run([...wayTo('data_consent'), { kind: 'unsaid' }]);
    const told = stepped(DEFAULT_FLOW, state, text('hola'));
    assert.deepEqual(
      [said(told), told.state.nonce, told.state.unsaid],
      [['consent'], state.nonce + 1, false],
    );
  });
});

describe('a text that came twice in one turn (D43)', () => {
  const again = (body: string): Input => ({ kind: 'text', body, isAgain: true });

  it('counts once on the way to an operator, as two taps of one thumb do', () => {
    for (const place of ASKING) {
      const once = run([...wayTo(place), text('xyz')]).state;
      assert.deepEqual(stepped(DEFAULT_FLOW, once, again('xyz')), { state: once, effects: [] });
      const greeted = run([...wayTo(place), text('hola')]).state;
      assert.deepEqual(stepped(DEFAULT_FLOW, greeted, again('hola')), { state: greeted, effects: [] });
    }
  });

  it('is an answer each time, and withdraws and stops as ever', () => {
    for (const place of ASKING)
      for (const body of ['sí', 'acepto', 'no', 'me retiro', 'asesor', 'BAJA', '1234', 'más tarde']) {
        const { state } = run(wayTo(place));
        const once = stepped(DEFAULT_FLOW, state, text(body));
        if (once.state.misunderstood === 0) assert.deepEqual(stepped(DEFAULT_FLOW, state, again(body)), once);
      }
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
