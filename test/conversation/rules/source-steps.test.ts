/** What a conversation does where an income source asks something of the person (D43, D44). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toApplicationId } from '../../../src/domain/application/ids.ts';
import { DEFAULT_FLOW } from '../../../src/domain/conversation/default-flow.ts';
import { flowWith, LANGUAGES } from '../../../src/domain/conversation/flow.ts';
import type { Input } from '../../../src/domain/conversation/input.ts';
import type { State } from '../../../src/domain/conversation/state.ts';
import { composeReply } from '../../../src/subjects/conversation/rules/compose.ts';
import { readSourceCode } from '../../../src/subjects/conversation/rules/source-steps.ts';
import { nextTimer } from '../../../src/subjects/conversation/rules/timers.ts';
import { run, type Stepped, said, stepped, text, wayTo } from './support.ts';

const FLOW = flowWith(DEFAULT_FLOW, { steps: { connect: true, debts: false } });
const LINK = 'https://widget.example/?access_token=secret';
const link: Input = { kind: 'source_step', step: 'open_link', link: LINK };
const code: Input = { kind: 'source_step', step: 'enter_code' };
const atEarnings = [...wayTo('earnings')];
const atLink = [...atEarnings, text('conectar mi cuenta'), link];
const atCode = [...atLink, text('listo'), code];
const works = ({ effects }: Stepped) =>
  effects.flatMap((effect) => (effect.kind === 'work' ? [effect.work] : []));
const on = (inputs: readonly Input[], ...more: readonly Input[]) => {
  let after = run(inputs, FLOW);
  for (const input of more) after = stepped(FLOW, after.state, input);
  return after;
};
const held = ({ state }: Stepped) => `${state.place} ${state.heldBy} ${state.handedOver}`;

describe('D44: a person connects an account in the place of statements', () => {
  it('by the button or its words, where the flow has that step, and nothing is told of documents', () => {
    for (const words of ['Conectar mi cuenta', 'no tengo', 'Connect my account']) {
      const after = on(atEarnings, text(words));
      assert.deepEqual([after.state.place, works(after)], ['checking', ['check_income']], words);
      assert.ok(after.effects.every((effect) => effect.kind !== 'tell'));
    }
    const without = stepped(DEFAULT_FLOW, run(atEarnings).state, text('conectar mi cuenta'));
    assert.equal(without.state.place, 'earnings');
  });

  it('and the button is there in that flow alone, until a file came', () => {
    const question = run(atEarnings, FLOW);
    const speaker = { language: 'es', partner: 'Acme', applicationId: toApplicationId('128') } as const;
    const says = question.effects.flatMap((effect) => (effect.kind === 'say' ? [effect] : []));
    const titles = (flow: typeof FLOW) =>
      composeReply({ ...speaker, flow }, question.state, says)?.buttons.map(({ title }) => title);
    assert.deepEqual(titles(FLOW), ['Conectar mi cuenta']);
    assert.deepEqual(titles(DEFAULT_FLOW), []);
  });

  it('with a link that stands last in the reply, whole, in each language', () => {
    const { state, effects } = on(atLink.slice(0, -1), link);
    const says = effects.flatMap((effect) => (effect.kind === 'say' ? [effect] : []));
    for (const language of LANGUAGES) {
      const long = `${LINK}${'x'.repeat(1_900)}`;
      const given = says.map((one) => (one.link === null ? one : { ...one, link: long }));
      const reply = composeReply(
        { flow: FLOW, language, partner: 'Acme', applicationId: toApplicationId('128') },
        state,
        given,
      );
      assert.ok(reply !== null);
      assert.ok(reply.text.endsWith(`\n\n${long}`));
      assert.ok(reply.text.length <= 4_096);
      assert.deepEqual(reply.buttons, []);
    }
  });

  it('and "done", another link, another code and the code ask the source again', () => {
    const cases: [from: readonly Input[], words: string, work: string | null][] = [
      [atLink, 'listo', 'check_income'],
      [atLink, 'pronto', 'check_income'],
      [atLink, 'done', 'check_income'],
      [atLink, 'otro enlace', 'check_income'],
      [atLink, '123456', null],
      [atCode, '123 456', 'answer_source'],
      [atCode, 'el código es A1B2C3', 'answer_source'],
      [atCode, 'otro código', 'check_income'],
      [atCode, 'gracias', null],
    ];
    for (const [from, words, work] of cases) {
      const after = on(from, text(words));
      assert.deepEqual(works(after), work === null ? [] : [work], words);
      assert.equal(after.state.income === 'asked', work !== null, words);
    }
  });

  it('and what is not understood leads to an operator at the third time, as at every question', () => {
    const once = on(atLink, text('qué es esto'));
    assert.deepEqual(said(once), ['not_understood', 'open_link_again']);
    assert.equal(held(on(atCode, text('qué'), text('cómo'), text('hm'))), 'checking operator not_understood');
  });

  it('and a person who does not want to gets an operator, who gives the check back from its beginning', () => {
    for (const from of [atLink, atCode]) {
      const after = on(from, text('no'));
      assert.equal(held(after), 'checking operator source');
      const again = stepped(FLOW, after.state, { kind: 'operator', act: 'give_back' });
      assert.deepEqual(
        [works(again), again.state.income, again.state.sourceSteps],
        [['check_income'], 'asked', 0],
      );
    }
  });

  it('after five steps of a source an operator helps', () => {
    const answered = ({ state }: Stepped, next: Input) =>
      stepped(
        FLOW,
        stepped(FLOW, state, text(state.income === 'enter_code' ? '123456' : 'listo')).state,
        next,
      );
    let after = run(atLink, FLOW);
    for (const next of [link, code, code, code]) {
      after = answered(after, next);
      assert.deepEqual([after.state.heldBy, said(after)[0]], ['service', 'source_again']);
    }
    const last = answered(after, code);
    assert.equal(held(last), 'checking operator source');
  });

  it('is reminded and expires, as at a question; while the source is asked, nothing is waited for', () => {
    const facts = { heardAt: new Date('2026-11-20T10:00:00Z'), movedAt: new Date('2026-11-20T10:00:00Z') };
    assert.equal(nextTimer(FLOW, run(atLink, FLOW).state, facts)?.timer, 'remind');
    assert.equal(nextTimer(FLOW, run(atCode, FLOW).state, facts)?.timer, 'remind');
    assert.equal(nextTimer(FLOW, on(atCode, text('123456')).state, facts), null);
    assert.deepEqual(said(on(atLink, { kind: 'timer', timer: 'remind', mayRemind: true })), [
      'reminder',
      'open_link_again',
    ]);
    assert.equal(on(atLink, { kind: 'timer', timer: 'expire', mayRemind: true }).state.place, 'expired');
  });

  it('and gets a new link where the old one could not be told, or the person was away', () => {
    const unsaid = on(atLink, { kind: 'unsaid' }, text('hola'));
    assert.deepEqual([works(unsaid), unsaid.state.income], [['check_income'], 'open_link']);
    const told = stepped(FLOW, unsaid.state, link);
    assert.deepEqual([said(told), told.state.sourceSteps], [['open_link'], 1]);
  });

  it('and what the source found meanwhile counts', () => {
    for (const from of [atLink, atCode]) {
      assert.equal(on(from, { kind: 'income', outcome: 'confirmed' }).state.place, 'summary');
    }
  });

  it('and a step for a conversation that an operator holds, that has gone on or has ended changes nothing', () => {
    const before = run(atLink, FLOW).state;
    const others: State[] = [
      { ...before, heldBy: 'operator', handedOver: 'asked' },
      { ...before, place: 'summary', income: 'confirmed' },
      { ...before, place: 'expired' },
    ];
    for (const state of others) assert.deepEqual(stepped(FLOW, state, link), { state, effects: [] });
  });
});

describe('D44: the code for an income source', () => {
  it('is read among words and in groups, and not out of sentences without one', () => {
    const cases: [string, string | null][] = [
      ['123456', '123456'],
      [' 12 34 56 ', '123456'],
      ['123-456.', '123456'],
      ['Mi código: 98765432', '98765432'],
      ['A1B2C3', 'A1B2C3'],
      ['gracias', null],
      ['123', null],
      ['123456 o 654321', null],
      ['1234567890123', null],
      ['la clave de mi banco es x1y2z3 y mi usuario es anaperez, por si lo necesitan', null],
    ];
    for (const [words, read] of cases) assert.equal(readSourceCode(words), read, words);
  });

  it('is letters and digits alone, whatever comes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (words) => {
        const read = readSourceCode(words);
        assert.ok(read === null || /^[A-Za-z0-9]{4,12}$/.test(read));
      }),
    );
  });
});

it('D43: any inputs at a source’s step keep the number of its steps within bounds, and no state keeps a link', () => {
  const some = fc.constantFrom<Input>(
    ...[link, code, text('listo'), text('123456'), text('otro código'), text('no'), text('hola')],
    ...([
      { kind: 'income', outcome: 'operator' },
      { kind: 'unsaid' },
      { kind: 'timer', timer: 'remind', mayRemind: true },
      { kind: 'operator', act: 'hand_over' },
      { kind: 'operator', act: 'give_back' },
      { kind: 'file', media: 'image' },
      { kind: 'work_failed' },
    ] as const),
  );
  fc.assert(
    fc.property(fc.array(some, { maxLength: 40 }), (inputs) => {
      let { state } = run(atLink, FLOW);
      for (const input of inputs) {
        const after = stepped(FLOW, state, input);
        const links = after.effects.filter((effect) => effect.kind === 'say' && effect.link !== null);
        assert.ok(links.length === 0 || input === link);
        assert.ok(links.length <= 1 && after.state.sourceSteps <= 5);
        assert.ok(!JSON.stringify(after.state).includes('secret'));
        state = after.state;
      }
    }),
  );
});
