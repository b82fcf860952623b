/** What a conversation does with each input, as properties over random inputs and as tables (D43). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DEFAULT_FLOW } from '../../../src/domain/conversation/default-flow.ts';
import { type Flow, flowWith, LANGUAGES } from '../../../src/domain/conversation/flow.ts';
import {
  CHOICES,
  type Input,
  type Outlook,
  REFUSALS,
  UNDER,
  type Under,
} from '../../../src/domain/conversation/input.ts';
import { isEnd, PLACES, STEPS } from '../../../src/domain/conversation/places.ts';
import { newState, type State } from '../../../src/domain/conversation/state.ts';
import {
  contract,
  file,
  GOOD,
  OFFER,
  OUTLOOK,
  read,
  run,
  SHA,
  said,
  stepped,
  text,
  type World,
  wayTo,
} from './support.ts';

const WORDS = [
  ...['sí', 'no', 'acepto', 'es todo', 'omitir', 'gracias', 'asesor', 'BAJA', 'cancelar', 'quiero retirarme'],
  ...[
    'no autorizo',
    'me arrepentí',
    '1234',
    '123456',
    '😀',
    'qué',
    '',
    'x'.repeat(5000),
    'otro código',
    'sim',
    'yes',
  ],
];

/** Any input, with many that lead on. Taps have the present nonce, or another one. */
const anyInput: fc.Arbitrary<
  Input | { readonly kind: 'fresh_tap'; readonly choice: (typeof CHOICES)[number] }
> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...WORDS).map(text) },
  {
    weight: 8,
    arbitrary: fc.constantFrom(...CHOICES).map((choice) => ({ kind: 'fresh_tap' as const, choice })),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Input>(
      file,
      read,
      { kind: 'offer', offer: OFFER },
      { kind: 'offer', offer: { ...OFFER, costs: 'others' } },
      contract(SHA),
      contract('b'.repeat(64)),
      contract('c'.repeat(64), 'others'),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Input>(
      { kind: 'income', outcome: 'confirmed' },
      { kind: 'code', result: 'sent', way: 'SMS', minutes: 10 },
    ),
  },
  fc.record({
    kind: fc.constant('tap' as const),
    place: fc.constantFrom<string>(...PLACES, 'x'),
    nonce: fc.nat(20),
    choice: fc.constantFrom(...CHOICES),
    under: fc.constantFrom(...UNDER),
    atMs: fc.nat(10).map((n) => n * 1_000),
  }),
  fc.constantFrom<Input>(
    { kind: 'begin', canSay: true },
    { kind: 'begin', canSay: false },
    { kind: 'foreign_tap' },
    { kind: 'file', media: 'audio' },
    { kind: 'file', media: 'image' },
    { kind: 'other', isQuiet: true },
    { kind: 'other', isQuiet: false },
    { kind: 'income', outcome: 'operator' },
    { kind: 'income', outcome: 'adjusted' },
    { kind: 'offer', offer: null },
    { kind: 'contract', contract: null },
    { kind: 'signed_contract', contract: { sha256: SHA, mediaId: 'm', filename: 's.pdf' } },
    { kind: 'signed_contract', contract: null },
    { kind: 'code', result: 'failed', way: '', minutes: 0 },
    { kind: 'work_failed' },
    { kind: 'opted_out' },
    { kind: 'unsaid' },
    { kind: 'other_phone' },
    { kind: 'next_day' },
    { kind: 'status', status: 'in_review' },
    { kind: 'status', status: 'pending_signature' },
    { kind: 'status', status: 'rejected' },
    { kind: 'timer', timer: 'remind', mayRemind: true },
    { kind: 'timer', timer: 'template', mayRemind: true },
    { kind: 'timer', timer: 'expire', mayRemind: true },
    { kind: 'operator', act: 'hand_over' },
    { kind: 'operator', act: 'give_back' },
    ...STEPS.map((step) => ({ kind: 'operator', act: 'give_back', step }) as const),
    { kind: 'operator', act: 'close' },
    { kind: 'document', purpose: 'debts', fate: 'operator' },
    ...([true, false] as const).flatMap((isUsable) =>
      (['earnings', 'debts'] as const).map((purpose) => ({
        ...({ kind: 'document_decided', purpose, isUsable, number: 1 } as const),
        usable: { earnings: isUsable ? 1 : 0, debts: 0 },
      })),
    ),
  ),
  fc
    .constantFrom(...REFUSALS)
    .map((refused): Input => ({ kind: 'document', purpose: 'earnings', fate: { refused } })),
);
/** No tap comes right after the one before it. */
let clockMs = 1_000_000;
const later = () => (clockMs += 60_000);
type Any = typeof anyInput extends fc.Arbitrary<infer T> ? T : never;
const resolved = (state: State, input: Any): Input =>
  input.kind === 'fresh_tap'
    ? {
        ...{ kind: 'tap', place: state.place, nonce: state.nonce },
        choice: input.choice,
        under: 'question',
        atMs: later(),
      }
    : input;

const anyFlow: fc.Arbitrary<Flow> = fc
  .record({ earnings: fc.boolean(), debts: fc.boolean() })
  .map((steps) => flowWith(DEFAULT_FLOW, { steps }));
const anyWorld: fc.Arbitrary<World> = fc
  .record({
    answer: fc.constantFrom('right', 'right', 'wrong', 'expired', 'spent', 'unreadable'),
    signature: fc.constantFrom('signed', 'not_signable'),
    withdrawal: fc.constantFrom('withdrawn', 'too_late', 'paid_out', 'rejected', 'not_signed'),
  })
  .map(({ answer, signature, withdrawal }) => ({
    answer: () => answer as ReturnType<World['answer']>,
    signature: () => signature as 'signed',
    withdrawal: () => withdrawal as 'withdrawn',
  }));
/** Prefixes of the good way, so that random inputs meet every step. */
const anyStart = fc.constantFrom(
  [],
  ...(
    ['data_consent', 'earnings', 'debts', 'checking', 'summary', 'contract', 'code', 'signed'] as const
  ).map(wayTo),
  [...wayTo('contract'), { kind: 'unsaid' } as const],
);

/** Every step of random conversations, with the state before it and what came of it. */
function everyStep(
  check: (flow: Flow, before: State, input: Input, after: ReturnType<typeof stepped>) => void,
): void {
  fc.assert(
    fc.property(
      anyFlow,
      anyWorld,
      anyStart,
      fc.array(anyInput, { maxLength: 25 }),
      (flow, world, start, inputs) => {
        let state = newState('pending_signature');
        for (const some of [...start, ...inputs]) {
          const input = resolved(state, some);
          const after = stepped(flow, state, input, world);
          check(flow, state, input, after);
          state = after.state;
        }
      },
    ),
    { numRuns: 800 },
  );
}

describe('any input in any state (D43)', () => {
  it('has an answer whose state is again a state', () => {
    everyStep((_flow, _before, _input, { state }) => {
      assert.deepEqual(Object.keys(state), Object.keys(newState('in_review')));
      assert.ok(PLACES.includes(state.place));
      assert.ok(state.misunderstood >= 0 && state.misunderstood < 3 && state.reading >= 0);
      assert.equal(state.handedOver === null, state.heldBy === 'service');
      assert.deepEqual(JSON.parse(JSON.stringify(state)), state);
    });
  });

  it('ends are final, but for the withdrawal of a signature', () => {
    everyStep((_flow, before, _input, { state }) => {
      if (!isEnd(before.place) || state.place === before.place) return;
      assert.deepEqual([before.place, state.place], ['signed', 'withdrawn']);
    });
  });

  it('an operator’s conversation is silent, but the signed contract comes', () => {
    everyStep((_flow, before, _input, after) => {
      if (before.heldBy !== 'operator' || after.state.heldBy !== 'operator') return;
      assert.deepEqual(
        said(after).filter((one) => one !== 'signed_copy'),
        [],
      );
    });
  });

  it('after an opt-out nothing follows', () => {
    everyStep((_flow, before, _input, after) => {
      if (!after.state.optedOut) return;
      assert.deepEqual(
        after.effects.filter(({ kind }) => kind === 'say' || kind === 'remind'),
        [],
      );
      assert.ok(!before.optedOut || after.state.optedOut);
      assert.ok(isEnd(after.state.place));
    });
  });

  it('a button of another question never acts', () => {
    everyStep((_flow, before, input, { state }) => {
      if (input.kind !== 'tap' || (input.nonce === before.nonce && input.place === before.place)) return;
      assert.ok(
        state.place === before.place || before.place === 'started',
        `${before.place} to ${state.place}`,
      );
      assert.equal(state.acceptedContract, before.acceptedContract);
    });
  });

  it('the end is told to the partner once', () => {
    everyStep((_flow, before, _input, { state, effects }) => {
      const told = effects.filter(
        (effect) => effect.kind === 'tell' && effect.event === 'conversation.ended',
      );
      assert.equal(told.length, !isEnd(before.place) && isEnd(state.place) ? 1 : 0);
    });
  });

  it('one reply has one question', () => {
    everyStep((_flow, _before, _input, { effects }) => {
      assert.ok(effects.filter((effect) => effect.kind === 'say' && effect.isQuestion).length <= 1 + 1);
    });
  });
});

function costsIn(input: Input): string | null {
  if (input.kind === 'offer') return input.offer?.costs ?? null;
  return input.kind === 'contract' ? (input.contract?.costs ?? null) : null;
}

it('nobody signs without the offer accepted, the shown contract accepted, and both proofs right (D46)', () => {
  fc.assert(
    fc.property(
      anyFlow,
      anyWorld,
      anyStart,
      fc.array(anyInput, { maxLength: 30 }),
      (flow, world, start, inputs) => {
        let state = newState('pending_signature');
        const seen = new Set<string>();
        let shown: string | null = null;
        let costs: string | null = null;
        let acceptedCosts: string | null = null;
        for (const some of [...start, ...inputs]) {
          const input = resolved(state, some);
          const asked: string[] = [];
          const watched: World = {
            answer: (question) => {
              const result = world.answer(question);
              if (result === 'right') seen.add(question);
              asked.push(question);
              return result;
            },
            signature: () => {
              for (const need of ['offer_accepted', 'contract_accepted', 'last_four', 'code'])
                assert.ok(seen.has(need), need);
              assert.equal(shown, accepted);
              return world.signature();
            },
            withdrawal: world.withdrawal,
            questionRead: () => (shown === state.shownContract ? 'can' : 'cannot'),
          };
          let accepted = state.acceptedContract;
          const after = stepped(flow, state, input, watched);
          for (const effect of after.effects) {
            if (effect.kind === 'evidence') seen.add(effect.act);
            if (effect.kind === 'evidence' && effect.act === 'offer_accepted') acceptedCosts = costs;
            if (effect.kind === 'say' && effect.text === 'summary') costs = costsIn(input);
            if (effect.kind === 'say' && effect.text === 'contract')
              assert.equal(costsIn(input), acceptedCosts, 'D45: the costs are those that were accepted');
            if (effect.kind === 'evidence' && effect.act === 'contract_accepted')
              assert.equal(shown, after.state.acceptedContract);
            if (effect.kind === 'say' && effect.text === 'contract') shown = effect.document?.sha256 ?? null;
          }
          // The window was closed, or the channel refused the reply: nobody read the contract.
          if (input.kind === 'unsaid' && state.place === 'contract') shown = null;
          accepted = after.state.acceptedContract;
          if (after.state.place === 'signed' && state.place !== 'signed') {
            assert.equal(world.signature(), 'signed');
            assert.notEqual(accepted, null);
          }
          state = after.state;
        }
      },
    ),
    { numRuns: 800 },
  );
});

describe('the proofs (D46)', () => {
  const sent: Input = { kind: 'code', result: 'sent', way: 'SMS', minutes: 10 };
  const tap = (
    place: 'data_consent' | 'summary' | 'contract',
    choice: (typeof CHOICES)[number],
    { nonce }: State,
    under: Under = 'question',
  ): Input => ({ kind: 'tap', place, nonce, choice, under, atMs: later() });

  it('after a code that was too old the proofs begin anew, because that of the ID number is as old', () => {
    const coded = run([...wayTo('code'), text('1234'), sent]);
    const late = stepped(DEFAULT_FLOW, coded.state, text('123456'), { ...GOOD, answer: () => 'expired' });
    assert.deepEqual(said(late), ['code_expired', 'last_four']);
    let { state } = late;
    for (const input of [text('1234'), sent, text('123456')])
      ({ state } = stepped(DEFAULT_FLOW, state, input));
    assert.equal(state.place, 'signed');
  });

  it('a new code is told with the end of the one before', () => {
    const asked = stepped(
      DEFAULT_FLOW,
      run([...wayTo('code'), text('1234'), sent]).state,
      text('otro código'),
    );
    const again = stepped(DEFAULT_FLOW, asked.state, { ...sent, result: 'sent_again' });
    assert.deepEqual(said(again), ['code_replaced', 'code']);
  });

  it('the acceptance once more, where the proofs are asked for, is told so, and hands nothing over', () => {
    for (const inputs of [[], [text('1234'), sent]]) {
      let { state } = run([...wayTo('code'), ...inputs]);
      const [asked] = said(stepped(DEFAULT_FLOW, state, text('acepto')));
      for (let times = 0; times < 4; times += 1) {
        const again = stepped(DEFAULT_FLOW, state, text(times % 2 === 0 ? 'acepto' : 'sí'));
        assert.deepEqual([said(again), again.state.heldBy], [[asked], 'service']);
        ({ state } = again);
      }
      assert.match(asked ?? '', /^(last_four|code_again)$/);
    }
  });

  it('the last four characters once more, where the code is on its way, are told so, and hand nothing over', () => {
    let { state } = run([...wayTo('code'), text('1234'), sent]);
    for (let times = 0; times < 4; times += 1) {
      const again = stepped(DEFAULT_FLOW, state, text('1234'));
      assert.deepEqual([said(again), again.state.heldBy], [['code_again'], 'service']);
      ({ state } = again);
    }
    assert.deepEqual(said(stepped(DEFAULT_FLOW, state, text('hola'))), ['not_understood', 'code_again']);
    assert.equal(stepped(DEFAULT_FLOW, state, text('123456')).state.place, 'signed');
  });

  it('"go on" under the offer of a person consents to nothing and accepts nothing', () => {
    const unclear = [text('qué es esto'), text('no sé')];
    const asked = run([...wayTo('data_consent'), ...unclear]);
    const after = stepped(DEFAULT_FLOW, asked.state, tap('data_consent', 'go_on', asked.state, 'help'));
    assert.deepEqual([after.state.place, said(after)], ['data_consent', ['consent']]);
    const offered = run([...wayTo('summary'), ...unclear]);
    // Also where it is tapped twice.
    let again = stepped(DEFAULT_FLOW, offered.state, tap('summary', 'go_on', offered.state, 'help'));
    again = stepped(DEFAULT_FLOW, again.state, tap('summary', 'go_on', again.state, 'help'));
    assert.deepEqual([again.state.place, said(again)], ['summary', ['summary_again']]);
    const third = stepped(DEFAULT_FLOW, again.state, tap('summary', 'go_on', again.state, 'short'));
    assert.equal(third.state.place, 'contract');
  });

  it('the title of "go on", written under the offer of a person, accepts nothing either', () => {
    for (const place of ['data_consent', 'summary'] as const) {
      const offered = run([...wayTo(place), text('qué es esto'), text('no sé')]);
      const after = stepped(DEFAULT_FLOW, offered.state, text('Seguir'));
      assert.deepEqual([after.state.place, after.state.misunderstood], [place, 0]);
    }
  });

  it('only a button under the whole question proves that the phone showed what is accepted', () => {
    const unproven = { ...GOOD, questionRead: (isProven: boolean) => (isProven ? 'can' : 'cannot') } as const;
    for (const [place, choice, word, next] of [
      ['data_consent', 'yes', 'sí', 'earnings'],
      ['summary', 'go_on', 'sí', 'contract'],
      ['contract', 'accept', 'acepto', 'code'],
    ] as const) {
      const { state } = run(wayTo(place));
      const after = (input: Input) => {
        const { state: then } = stepped(DEFAULT_FLOW, state, input, unproven);
        return then.outlook === 'asked' ? stepped(DEFAULT_FLOW, then, OUTLOOK).state.place : then.place;
      };
      assert.deepEqual(
        [after(tap(place, choice, state)), after(tap(place, choice, state, 'short')), after(text(word))],
        [next, place, place],
      );
    }
  });
});

describe('words that could ask for no more messages (D43)', () => {
  const DOUBT = text('¿de dónde sacaron mi número?');
  const goesOn = ({ place, nonce }: State): Input => ({
    ...{ kind: 'tap', place, nonce, choice: 'go_on', under: 'help', atMs: 10_000 },
  });
  const STEPS = ['data_consent', 'earnings', 'debts', 'summary', 'contract', 'code'] as const;

  it('are asked back once at every step, and nothing of the conversation changes', () => {
    for (const place of STEPS) {
      const { state } = run(wayTo(place));
      const asked = stepped(DEFAULT_FLOW, state, DOUBT);
      assert.deepEqual(said(asked), ['stop_or_go_on'], place);
      assert.deepEqual(asked.state, { ...state, tapped: asked.state.tapped, stopAsked: 'open' });
      const again = stepped(DEFAULT_FLOW, asked.state, DOUBT);
      assert.ok(!said(again).includes('stop_or_go_on') && !again.state.optedOut, place);
    }
  });

  it('"go on", tapped or written, asks the open question again and answers nothing', () => {
    for (const place of STEPS) {
      const { state } = stepped(DEFAULT_FLOW, run(wayTo(place)).state, DOUBT);
      const tapped = stepped(DEFAULT_FLOW, state, goesOn(state));
      for (const after of [
        tapped,
        ...['Seguir', 'sí', 'no', 'acepto', 'listo'].map((word) => stepped(DEFAULT_FLOW, state, text(word))),
      ])
        assert.deepEqual([after.state.place, after.state.optedOut, said(after).length], [place, false, 1]);
      assert.equal(tapped.state.stopAsked, 'asked');
    }
  });

  it('the title of the other button, written in any language, stops', () => {
    const { state } = stepped(DEFAULT_FLOW, run(wayTo('debts')).state, DOUBT);
    for (const language of LANGUAGES) {
      const after = stepped(DEFAULT_FLOW, state, text(DEFAULT_FLOW.buttons[language].stop));
      assert.deepEqual([after.state.place, after.state.optedOut, said(after)], ['closed', true, []]);
    }
  });

  it('what means something else too is no doubt, and an operator who holds the conversation asks for themselves', () => {
    const { state } = run(wayTo('debts'));
    assert.equal(stepped(DEFAULT_FLOW, state, text('quiero cancelar mi solicitud')).state.stopAsked, 'no');
    const held = stepped(DEFAULT_FLOW, state, { kind: 'operator', act: 'hand_over' });
    const heard = stepped(DEFAULT_FLOW, held.state, DOUBT);
    assert.deepEqual([said(heard), heard.state.stopAsked], [[], 'no']);
  });

  it('after the end they are asked back too, and "go on" changes nothing', () => {
    const { state } = run([...wayTo('summary'), text('no')]);
    assert.equal(state.place, 'declined');
    const asked = stepped(DEFAULT_FLOW, state, DOUBT);
    assert.deepEqual([said(asked), asked.state.place], [['stop_or_go_on'], 'declined']);
    const after = stepped(DEFAULT_FLOW, asked.state, goesOn(asked.state));
    assert.deepEqual([after.state.place, after.state.optedOut], ['declined', false]);
  });
});

describe('what a phone does to answers (D43)', () => {
  const tap = (state: State, choice: (typeof CHOICES)[number], atMs: number): Input => ({
    ...{ kind: 'tap', place: state.place, nonce: state.nonce, choice, under: 'question', atMs },
  });

  it('two taps of one button within two seconds are one, also of an old one; later it is tapped again', () => {
    for (const apartMs of [-2_000, 0, 1_000, 2_000]) {
      const { state } = run(wayTo('summary'));
      const [first, second] = [tap(state, 'decline', 10_000), tap(state, 'decline', 10_000 + apartMs)];
      const ended = stepped(DEFAULT_FLOW, state, first);
      assert.equal(ended.state.place, 'declined');
      assert.deepEqual(stepped(DEFAULT_FLOW, ended.state, second), { state: ended.state, effects: [] });
      const old = { ...tap(state, 'yes', 20_000), nonce: 0 } as Input;
      const again = stepped(DEFAULT_FLOW, state, old);
      assert.deepEqual([said(again), again.state.repeats], [['summary_again'], 1]);
      const twice = { ...old, atMs: 20_000 + apartMs } as Input;
      assert.deepEqual(stepped(DEFAULT_FLOW, again.state, twice), { state: again.state, effects: [] });
      const later = { ...old, atMs: 22_001 } as Input;
      assert.equal(stepped(DEFAULT_FLOW, again.state, later).state.repeats, 2);
      const other = { ...tap(state, 'decline', 20_000 + apartMs) } as Input;
      assert.equal(stepped(DEFAULT_FLOW, again.state, other).state.place, 'declined');
    }
  });

  it('a tap on a question that was told again is never the second of two, and the button before it is old', () => {
    for (const place of ['data_consent', 'summary', 'contract'] as const) {
      const { state } = run(wayTo(place));
      const choice = place === 'data_consent' ? 'yes' : place === 'summary' ? 'go_on' : 'accept';
      const first = tap(state, choice, 10_000);
      // The reply with the question is of unknown fate.
      let again = stepped(DEFAULT_FLOW, state, first, { ...GOOD, questionRead: () => 'cannot' });
      assert.equal(again.state.place, place);
      const made: Input = place === 'summary' ? { kind: 'offer', offer: OFFER } : contract(SHA);
      if (place !== 'data_consent') again = stepped(DEFAULT_FLOW, again.state, made);
      const second = stepped(DEFAULT_FLOW, again.state, { ...first, atMs: 10_500 } as Input);
      assert.equal(second.state.place, place);
      const fresh = stepped(DEFAULT_FLOW, second.state, tap(again.state, choice, 12_000));
      assert.ok(fresh.state.place !== place || fresh.state.outlook === 'asked');
    }
  });

  it('a proof counts also where the question was told again, and that did not arrive (D46)', () => {
    const sent: Input = { kind: 'code', result: 'sent', way: 'SMS', minutes: 10 };
    let { state } = run([...wayTo('code'), { kind: 'unsaid' }]);
    for (const input of [text('1234'), sent, { kind: 'unsaid' } as const])
      ({ state } = stepped(DEFAULT_FLOW, state, input));
    const wrong = stepped(DEFAULT_FLOW, state, text('000000'), { ...GOOD, answer: () => 'wrong' });
    const lost = stepped(DEFAULT_FLOW, wrong.state, { kind: 'unsaid' });
    assert.equal(stepped(DEFAULT_FLOW, lost.state, text('123456')).state.place, 'signed');
    assert.deepEqual(said(stepped(DEFAULT_FLOW, lost.state, text('hm'))), ['code_again']);
  });

  it('a word that is no end of an ID number is not understood, and is no wrong answer', () => {
    const { state } = run(wayTo('code'));
    const after = stepped(DEFAULT_FLOW, state, text('hola'), { ...GOOD, answer: () => 'unreadable' });
    assert.deepEqual(
      [said(after), after.state.misunderstood, after.state.repeats],
      [['not_understood', 'last_four'], 1, 0],
    );
  });

  it('the end is told once more where it did not arrive, and else once a day', () => {
    for (const [word, end] of [
      ['no', 'declined'],
      ['me arrepentí', 'withdrawn'],
    ] as const) {
      let { state } = run([...wayTo('data_consent'), text(word)]);
      const told = stepped(DEFAULT_FLOW, state, text('hm'));
      assert.deepEqual(said(told), [end, 'person_hint']);
      assert.deepEqual(said(stepped(DEFAULT_FLOW, told.state, text('hm'))), []);
      ({ state } = stepped(DEFAULT_FLOW, told.state, { kind: 'unsaid' }));
      assert.deepEqual(said(stepped(DEFAULT_FLOW, state, text('hm'))), [end, 'person_hint']);
      const nextDay = stepped(DEFAULT_FLOW, told.state, { kind: 'next_day' });
      assert.deepEqual(said(stepped(DEFAULT_FLOW, nextDay.state, text('hm'))), [end, 'person_hint']);
    }
  });

  it('the word that the hint of each language names brings a person, also after the end', () => {
    const { state } = run(wayTo('signed'));
    for (const language of LANGUAGES) {
      const word = DEFAULT_FLOW.texts[language].person_hint.match(/[A-Z]{4,}/)?.[0] ?? '';
      assert.equal(stepped(DEFAULT_FLOW, state, text(word)).state.handedOver, 'asked', word);
    }
  });
});

describe('words (D43)', () => {
  const cases: [word: string, from: Parameters<typeof wayTo>[0], to: string, optedOut: boolean][] = [
    ['BAJA', 'earnings', 'closed', true],
    ['cancelar', 'earnings', 'withdrawn', true],
    ['quiero retirarme', 'contract', 'withdrawn', true],
    ['no autorizo', 'data_consent', 'declined', true],
    ['cancelar', 'signed', 'withdrawn', true],
    ['BAJA', 'signed', 'signed', true],
    ['me arrepentí', 'summary', 'withdrawn', false],
    ['me arrependi', 'signed', 'withdrawn', false],
    ['RETRACTO', 'signed', 'withdrawn', false],
    ['Ejerzo mi derecho de retracto', 'signed', 'withdrawn', false],
    ['quiero retractarme', 'signed', 'withdrawn', false],
    ['desisto', 'signed', 'withdrawn', false],
    ['direito de arrependimento', 'signed', 'withdrawn', false],
    ['WITHDRAW', 'signed', 'withdrawn', false],
    ['no, gracias', 'data_consent', 'declined', false],
  ];
  for (const [word, from, to, optedOut] of cases) {
    it(`"${word}" at ${from} leads to ${to}${optedOut ? ', and nothing follows' : ''}`, () => {
      const before = run(wayTo(from));
      const after = stepped(DEFAULT_FLOW, before.state, text(word));
      assert.equal(after.state.place, to);
      assert.equal(after.state.optedOut, optedOut);
      assert.equal(said(after).length, optedOut ? 0 : 1);
    });
  }

  for (const word of ['RETRACTO', 'quiero retractarme', 'DESISTO', 'WITHDRAW']) {
    it(`"${word}" withdraws the signature also after an opt-out, and nothing is said (D43, D46)`, () => {
      const optedOut = stepped(DEFAULT_FLOW, run(wayTo('signed')).state, text('BAJA'));
      assert.equal(optedOut.state.place, 'signed');
      const after = stepped(DEFAULT_FLOW, optedOut.state, text(word));
      assert.equal(after.state.place, 'withdrawn');
      assert.ok(
        after.effects.some((effect) => effect.kind === 'tell' && effect.event === 'contract.withdrawn'),
      );
      assert.deepEqual(said(after), []);
      const late = stepped(DEFAULT_FLOW, optedOut.state, text(word), {
        ...GOOD,
        withdrawal: () => 'too_late',
      });
      assert.deepEqual([late.state.place, late.state.heldBy, said(late)], ['signed', 'operator', []]);
    });
  }

  for (const [withdrawal, sentences] of [
    ['too_late', ['withdraw_too_late']],
    // The rejection has ended the contract, so the word did not come late.
    ['rejected', ['person_will_write']],
    ['paid_out', ['withdrawn', 'person_will_write']],
  ] as const) {
    it(`a RETRACTO that comes to ${withdrawal} goes to an operator with ${sentences} (D46)`, () => {
      const world = { ...GOOD, withdrawal: () => withdrawal };
      const after = stepped(DEFAULT_FLOW, run(wayTo('signed')).state, text('RETRACTO'), world);
      assert.deepEqual(
        [after.state.place, after.state.heldBy, said(after)],
        ['signed', 'operator', sentences],
      );
    });
  }

  it('the third input in a row that is not understood hands over', () => {
    const inputs = [...wayTo('data_consent'), text('qué es esto'), text('no sé'), text('hm')];
    const places = [2, 3, 4].map((many) => run(inputs.slice(0, many)).state.heldBy);
    assert.deepEqual(places, ['service', 'service', 'operator']);
    assert.equal(
      run([...wayTo('data_consent'), text('qué'), text('hm'), text('sí'), text('qué'), text('hm')]).state
        .heldBy,
      'service',
    );
  });

  it('"gracias" at an end restarts nothing and is not answered', () => {
    for (const end of ['no', 'me arrepentí']) {
      const ended = run([...wayTo('data_consent'), text(end)]);
      const after = stepped(DEFAULT_FLOW, ended.state, text('Muchas gracias!'));
      assert.deepEqual([after.state.place, said(after)], [ended.state.place, []]);
    }
  });
});

describe('the way', () => {
  it('goes from the tap to the signature', () => {
    const { state, effects } = run(wayTo('signed'));
    assert.equal(state.place, 'signed');
    assert.deepEqual(
      effects.flatMap((effect) => (effect.kind === 'tell' ? [effect.event] : [])),
      [
        'conversation.started',
        'documents.received',
        'income.verified',
        'contract.signed',
        'conversation.ended',
      ],
    );
  });

  it('the first question is the consent with two buttons, and the earnings come right after it', () => {
    const begun = run(wayTo('data_consent'));
    const [question] = begun.effects.filter((effect) => effect.kind === 'say');
    assert.deepEqual([question?.text, question?.choices], ['consent', ['yes', 'no']]);
    const { nonce } = begun.state;
    const tap: Input = {
      kind: 'tap',
      place: 'data_consent',
      nonce,
      choice: 'yes',
      under: 'question',
      atMs: later(),
    };
    const consented = stepped(DEFAULT_FLOW, begun.state, tap);
    assert.deepEqual([said(consented), worksOf(consented)], [[], ['offer']]);
    assert.deepEqual(said(stepped(DEFAULT_FLOW, consented.state, OUTLOOK)), ['outlook', 'earnings']);
  });

  it('D45: where nothing can be offered the person hears why, an operator comes, and no document is asked for', () => {
    const { state } = run([...wayTo('data_consent'), text('sí')]);
    const known = (outlook: Outlook) => stepped(DEFAULT_FLOW, state, { kind: 'outlook', outlook });
    for (const [reason, ...texts] of [
      ['below_minimum', 'amount_too_small', 'person_will_write'],
      ['above_limit', 'amount_too_large', 'person_will_write'],
      ['wrong_currency', 'other_currency', 'person_will_write'],
      ['short_id_number', 'id_number_short', 'person_will_write'],
      [null, 'person_will_write'],
    ] as const) {
      const after = known({ isPossible: false, reason, limit: '$ 200.000' });
      assert.deepEqual([said(after), after.state.handedOver], [texts, 'no_offer'], `${reason}`);
      assert.deepEqual(worksOf(stepped(DEFAULT_FLOW, after.state, file)), [], 'no file is taken');
      // The operator has mended it: it is found out again, and the consent stays.
      const back = stepped(DEFAULT_FLOW, after.state, { kind: 'operator', act: 'give_back' });
      assert.deepEqual([worksOf(back), back.state.place], [['offer'], 'data_consent']);
      assert.equal(stepped(DEFAULT_FLOW, back.state, OUTLOOK).state.place, 'earnings');
    }
  });

  it('D45: what comes while the offer is calculated answers nothing, and its end counts once', () => {
    const { state } = run([...wayTo('data_consent'), text('sí')]);
    for (const input of [text('hola'), text('sí'), file])
      assert.deepEqual(stepped(DEFAULT_FLOW, state, input).effects, [], JSON.stringify(input));
    const { state: asked } = stepped(DEFAULT_FLOW, state, OUTLOOK);
    assert.deepEqual(stepped(DEFAULT_FLOW, asked, OUTLOOK).effects, []);
    assert.deepEqual(run([...wayTo('data_consent'), OUTLOOK]).state.place, 'data_consent');
    // A flow without documents goes on to the check.
    const flow = flowWith(DEFAULT_FLOW, { steps: { earnings: false, debts: false } });
    const waiting = run(
      [{ kind: 'status', status: 'in_review' }, ...wayTo('data_consent'), text('sí')],
      flow,
    );
    const after = stepped(flow, waiting.state, OUTLOOK);
    assert.deepEqual([said(after), after.state.place], [['outlook', 'in_review'], 'checking']);
    assert.equal(run([...wayTo('data_consent'), text('sí'), text('me retiro')]).state.place, 'withdrawn');
  });

  it('waits for the review after checking, and goes on when the review approves', () => {
    const inputs: Input[] = [
      { kind: 'status', status: 'in_review' },
      ...wayTo('checking'),
      { kind: 'income', outcome: 'confirmed' },
    ];
    const waiting = run(inputs);
    assert.deepEqual([waiting.state.place, said(waiting).at(-1)], ['checking', 'in_review']);
    assert.equal(run([...inputs, { kind: 'status', status: 'pending_signature' }]).state.place, 'summary');
    assert.equal(run([...inputs, { kind: 'status', status: 'rejected' }]).state.place, 'closed');
  });

  it('says that a code is on its way, also to who writes while its way is away', () => {
    const right = stepped(DEFAULT_FLOW, run(wayTo('code')).state, text('1234'));
    assert.deepEqual([right.state.proof, said(right)], ['code_asked', ['sending_code']]);
    const again = stepped(DEFAULT_FLOW, right.state, text('no me llega nada'));
    assert.deepEqual([again.state.heldBy, said(again)], ['service', ['sending_code']]);
    // What was written meanwhile is no wrong answer.
    const sent = stepped(DEFAULT_FLOW, again.state, {
      kind: 'code',
      result: 'sent',
      way: 'SMS',
      minutes: 10,
    });
    assert.deepEqual([sent.state.repeats, said(sent)], [0, ['code']]);
    const resent = stepped(DEFAULT_FLOW, sent.state, text('otro código'));
    assert.deepEqual([resent.state.proof, said(resent)], ['code_asked', ['sending_code']]);
  });

  it('is the same however inputs are cut into turns, because a turn is a fold over its inputs', () => {
    fc.assert(
      fc.property(
        anyStart,
        fc.array(anyInput, { maxLength: 20 }),
        fc.array(fc.nat(20)),
        (start, some, cuts) => {
          let state = newState('pending_signature');
          const inputs = [...start, ...some].map((one) => {
            const input = resolved(state, one);
            state = stepped(DEFAULT_FLOW, state, input).state;
            return input;
          });
          let again = newState('pending_signature');
          for (const part of partsOf(inputs, cuts)) {
            for (const input of part) again = stepped(DEFAULT_FLOW, again, input, GOOD).state;
            again = JSON.parse(JSON.stringify(again));
          }
          assert.deepEqual(again, state);
        },
      ),
    );
  });

  it('a flow may leave out steps', () => {
    const steps = (earnings: boolean, debts: boolean) =>
      flowWith(DEFAULT_FLOW, { steps: { earnings, debts } });
    assert.equal(run(wayTo('earnings'), steps(false, true)).state.place, 'debts');
    assert.equal(run(wayTo('earnings'), steps(false, false)).state.place, 'summary');
    assert.equal(run(wayTo('debts'), steps(true, false)).state.place, 'checking');
  });

  it('a question that could not be told is asked when the person writes', () => {
    const { state } = run([...wayTo('data_consent'), { kind: 'unsaid' }]);
    const after = stepped(DEFAULT_FLOW, state, text('hola'));
    assert.deepEqual([after.state.misunderstood, said(after)], [0, ['consent']]);
  });

  it('an answer counts only where its question was told: until then each message brings the whole question', () => {
    const offer: Input = { kind: 'offer', offer: OFFER };
    const others: Input[] = [
      { kind: 'file', media: 'audio' },
      { kind: 'file', media: 'image' },
      { kind: 'foreign_tap' },
      { kind: 'tap', place: 'data_consent', nonce: 1, choice: 'yes', under: 'question', atMs: later() },
      { kind: 'other', isQuiet: false },
      text('acepto'),
      text('sí'),
      text('hm'),
    ];
    for (const other of others) {
      const summary = run([
        ...wayTo('checking'),
        { kind: 'income', outcome: 'confirmed' },
        offer,
        { kind: 'unsaid' },
      ]);
      const asked = stepped(DEFAULT_FLOW, summary.state, other);
      assert.deepEqual([asked.state.place, said(asked), worksOf(asked)], ['summary', [], ['offer']]);
      const contracted = run([...wayTo('summary'), text('sí'), contract(SHA), { kind: 'unsaid' }]);
      let again = stepped(DEFAULT_FLOW, contracted.state, other);
      assert.deepEqual([again.state.place, said(again), worksOf(again)], ['contract', [], ['make_contract']]);
      // Also while the contract is made again.
      again = stepped(DEFAULT_FLOW, again.state, text('acepto'));
      assert.deepEqual([again.state.place, again.state.acceptedContract], ['contract', null]);
    }
    const consent = run([...wayTo('data_consent'), { kind: 'unsaid' }]);
    for (const other of others.slice(0, 3)) {
      const asked = stepped(DEFAULT_FLOW, consent.state, other);
      assert.deepEqual([said(asked), asked.state.unsaid], [['consent'], false]);
    }
  });

  it('a contract that was perhaps not told is told again, and not accepted (D46)', () => {
    const { state } = run(wayTo('contract'));
    const cannot = { ...GOOD, questionRead: () => 'cannot' as const };
    const under = 'question';
    const tap: Input = {
      kind: 'tap',
      place: 'contract',
      nonce: state.nonce,
      choice: 'accept',
      atMs: later(),
      under,
    };
    for (const input of [text('acepto'), tap]) {
      const after = stepped(DEFAULT_FLOW, state, input, cannot);
      assert.deepEqual([after.state.place, after.state.acceptedContract], ['contract', null]);
      assert.deepEqual(worksOf(after), ['make_contract']);
    }
  });

  it('what comes while an operator speaks is told when it is given back', () => {
    const held = run([...wayTo('summary'), text('sí'), { kind: 'operator', act: 'hand_over' }]);
    const made = stepped(DEFAULT_FLOW, held.state, contract(SHA));
    assert.equal(made.state.shownContract, null);
    const back = stepped(DEFAULT_FLOW, made.state, { kind: 'operator', act: 'give_back' });
    assert.deepEqual(
      [worksOf(back), stepped(DEFAULT_FLOW, back.state, text('acepto')).state.place],
      [['make_contract'], 'contract'],
    );
  });

  it('the words of an opt-out that was known before them are recorded once', () => {
    const closed = run([...wayTo('contract'), { kind: 'opted_out' }]);
    const acts = (word: string, from = closed) => {
      const after = stepped(DEFAULT_FLOW, from.state, text(word));
      assert.equal(after.state.place, 'closed');
      return after.effects.flatMap((effect) => (effect.kind === 'evidence' ? [effect.act] : []));
    };
    assert.deepEqual(
      [acts('cancelar'), acts('no autorizo'), acts('BAJA')],
      [['withdrawal_asked'], ['declined'], []],
    );
    const recorded = stepped(DEFAULT_FLOW, closed.state, text('cancelar'));
    assert.deepEqual(acts('cancelar', recorded), []);
    // The reply before the opt-out never went out.
    assert.deepEqual(acts('cancelar', stepped(DEFAULT_FLOW, recorded.state, { kind: 'unsaid' })), []);
  });

  it('a conversation whose row was damaged asks for the acceptance again', () => {
    const damaged: State = { ...newState('pending_signature'), place: 'code', heldBy: 'operator' };
    const back = stepped(DEFAULT_FLOW, damaged, { kind: 'operator', act: 'give_back' });
    assert.deepEqual([back.state.place, worksOf(back)], ['contract', ['make_contract']]);
  });

  it('somebody else at the phone is asked nothing more, and an operator looks at it', () => {
    for (const word of ['Número equivocado', 'no soy esa persona', 'número errado', 'Wrong number!']) {
      for (const place of ['data_consent', 'contract', 'signed'] as const) {
        const after = stepped(DEFAULT_FLOW, run(wayTo(place)).state, text(word));
        assert.deepEqual([after.state.handedOver, said(after)], ['wrong_person', ['wrong_person']], word);
      }
    }
  });

  it('the title of a button means what the button does', () => {
    const buttons = { es: { yes: 'Va que va', decline: 'Paso' } };
    const flow = flowWith(DEFAULT_FLOW, { buttons });
    const { state } = run(wayTo('data_consent'), flow);
    assert.equal(stepped(flow, state, text('va que va')).state.outlook, 'asked');
    for (const language of LANGUAGES) {
      const { go_on: goOn, decline } = DEFAULT_FLOW.buttons[language];
      const { state: asked } = run(wayTo('summary'));
      assert.equal(stepped(DEFAULT_FLOW, asked, text(goOn)).state.place, 'contract');
      assert.equal(stepped(DEFAULT_FLOW, asked, text(decline)).state.place, 'declined');
    }
  });

  it('files that are refused again and again bring an operator, and none is fetched after that', () => {
    const refused: Input = { kind: 'document', purpose: 'earnings', fate: { refused: 'wrong_type' } };
    const many = Array.from({ length: DEFAULT_FLOW.limits.files }, () => [file, refused]).flat();
    const { state } = run([...wayTo('earnings'), ...many]);
    assert.deepEqual([state.heldBy, state.handedOver], ['operator', 'documents']);
    assert.deepEqual(worksOf(stepped(DEFAULT_FLOW, state, file)), []);
    const back = stepped(DEFAULT_FLOW, state, { kind: 'operator', act: 'give_back' });
    assert.deepEqual(worksOf(stepped(DEFAULT_FLOW, back.state, file)), ['read_document']);
  });

  it('a code and the end of an ID number count among other words, as the signing reads them', () => {
    const { state } = run(wayTo('code'));
    const asked = stepped(DEFAULT_FLOW, state, text('son 1234, gracias'));
    assert.deepEqual(worksOf(asked), ['send_code']);
    const sent = stepped(DEFAULT_FLOW, asked.state, {
      kind: 'code',
      result: 'sent',
      way: 'SMS',
      minutes: 10,
    });
    assert.equal(stepped(DEFAULT_FLOW, sent.state, text('mi código es 123-456')).state.place, 'signed');
  });

  it('a voice message of a person who has to write first brings the first question', () => {
    for (const media of ['audio', 'sticker', 'image'] as const) {
      const begun = run([
        { kind: 'begin', canSay: false },
        { kind: 'file', media },
      ]);
      assert.deepEqual([begun.state.place, said(begun)], ['data_consent', ['consent']]);
    }
  });

  it('files beyond the limit are not taken', () => {
    const files = Array.from({ length: 30 }, () => file);
    const { state, effects } = run([...wayTo('earnings'), ...files]);
    assert.equal(state.reading, DEFAULT_FLOW.limits.files);
    const reads = worksOf({ state, effects }).filter((work) => work === 'read_document');
    assert.equal(reads.length, DEFAULT_FLOW.limits.files);
  });
});

function worksOf({ effects }: ReturnType<typeof stepped>): string[] {
  return effects.flatMap((effect) => (effect.kind === 'work' ? [effect.work] : []));
}

function* partsOf(inputs: readonly Input[], cuts: readonly number[]): Generator<readonly Input[]> {
  let rest = inputs;
  for (const cut of cuts) {
    yield rest.slice(0, cut);
    rest = rest.slice(cut);
  }
  yield rest;
}
