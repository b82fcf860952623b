/** What a conversation does with an operator's decision on a file of the person (D43, D44). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_FLOW } from '../../../src/domain/conversation/default-flow.ts';
import { flowWith } from '../../../src/domain/conversation/flow.ts';
import type { Input } from '../../../src/domain/conversation/input.ts';
import type { State } from '../../../src/domain/conversation/state.ts';
import { fileNumber } from '../../../src/subjects/conversation/rules/files.ts';
import { file, read, run, said, stepped, text, wayTo } from './support.ts';

const decided = (isUsable: boolean, number: number, earnings: number, debts = 0): Input => ({
  ...{ kind: 'document_decided', purpose: 'earnings', isUsable, number, usable: { earnings, debts } },
});
const rejected = (number: number, earnings: number) => decided(false, number, earnings);
const debtsRejected: Input = {
  ...{ kind: 'document_decided', purpose: 'debts', isUsable: false, number: 2 },
  usable: { earnings: 1, debts: 0 },
};
const GIVE_BACK: Input = { kind: 'operator', act: 'give_back' };
const HAND_OVER: Input = { kind: 'operator', act: 'hand_over' };
const step = (state: State, input: Input) => stepped(DEFAULT_FLOW, state, input);
const steps = (state: State, ...inputs: Input[]) =>
  inputs.reduce((before, input) => stepped(DEFAULT_FLOW, before.state, input), {
    state,
    effects: [],
  } as ReturnType<typeof stepped>);
const SENT = [...wayTo('earnings'), file, read];

it('D43: a file has its number among all files that were sent, whatever became a document', () => {
  const documents = [
    { id: '3', messages: ['gone'] },
    { id: '5', messages: ['c', 'a'] },
    { id: '6', messages: ['e'] },
    { id: '8', messages: [] },
  ];
  const numberOf = (id: string) => fileNumber(id, documents, ['early', 'a', 'b', 'c', 'd', 'e']);
  // Two files whose messages are not stored came first.
  assert.deepEqual(['3', '8', '5', '6'].map(numberOf), [1, 2, 4, 8]);
});

describe('a file that an operator rejects', () => {
  it('counts no more, and the person hears which one, and what to send', () => {
    const after = step(run([...SENT, file, read]).state, rejected(2, 1));
    assert.deepEqual(said(after), ['file_rejected', 'earnings']);
    const [told] = after.effects;
    assert.ok(told?.kind === 'say' && told.values.numbers === '2');
    assert.deepEqual([after.state.usable.earnings, after.state.files.earnings], [1, 1]);
    assert.deepEqual(said(step(after.state, text('es todo'))), ['debts']);
  });

  it('is asked for again where it was the only one, also after "I sent everything"', () => {
    const after = step(run(SENT).state, rejected(1, 0));
    const again = step(after.state, text('Ya envié todo'));
    assert.deepEqual([again.state.place, said(again)], ['earnings', ['files_needed', 'earnings']]);
    const sent = steps(again.state, file, read, text('es todo'));
    assert.equal(sent.state.place, 'debts');
  });

  it('is told once, and once more where that did not reach the person', () => {
    const told = step(run(SENT).state, rejected(1, 0));
    assert.deepEqual(said(step(told.state, text('hm'))), ['not_understood', 'earnings_again']);
    const lost = steps(told.state, { kind: 'unsaid' }, text('hola'));
    assert.deepEqual(said(lost), ['file_rejected', 'earnings']);
    assert.deepEqual(said(step(lost.state, text('es todo'))), ['files_needed', 'earnings']);
    const more = step(steps(told.state, { kind: 'unsaid' }).state, rejected(2, 0));
    const [both] = more.effects;
    assert.ok(both?.kind === 'say' && both.values.numbers === '1, 2');
  });

  it('is not told at the next step, where the person has left this one', () => {
    const reading = run([...SENT, file]).state;
    const complete = steps(reading, text('es todo'), rejected(1, 0));
    assert.deepEqual(said(complete), ['file_rejected', 'still_reading']);
    const on = step(complete.state, read);
    assert.deepEqual([on.state.place, said(on)], ['debts', ['debts']]);
  });

  it('at the step of the debts: one of the debts is asked for again, the last one of earnings leads back', () => {
    const atDebts = [...wayTo('debts'), file, { ...read, purpose: 'debts' } as Input];
    const debts = step(run(atDebts).state, debtsRejected);
    assert.deepEqual([debts.state.place, said(debts)], ['debts', ['file_rejected', 'debts']]);
    const earnings = step(run(atDebts).state, decided(false, 1, 0, 1));
    assert.deepEqual([earnings.state.place, said(earnings)], ['earnings', ['file_rejected', 'earnings']]);
    const other = step(run(atDebts).state, decided(false, 1, 1, 1));
    assert.deepEqual([other.state.place, said(other)], ['debts', ['file_rejected', 'debts']]);
  });

  it('is told when the conversation is given back, where an operator speaks', () => {
    const held = steps(run(SENT).state, HAND_OVER, rejected(1, 0));
    assert.deepEqual([said(held), held.state.usable.earnings], [[], 0]);
    const back = step(held.state, GIVE_BACK);
    assert.deepEqual(said(back), ['given_back', 'file_rejected', 'earnings']);
  });

  it('sends the conversation from the check back to the statements, when it is given back without one', () => {
    const operator: Input = { kind: 'income', outcome: 'operator' };
    const held = steps(run([...wayTo('checking'), operator]).state, rejected(1, 0));
    assert.deepEqual([held.state.place, said(held)], ['checking', []]);
    const back = step(held.state, GIVE_BACK);
    assert.deepEqual([back.state.place, back.state.income], ['earnings', null]);
    assert.deepEqual(said(back), ['given_back', 'file_rejected', 'earnings']);
    const again = steps(back.state, file, read, text('es todo'), text('omitir'));
    assert.deepEqual([again.state.place, again.state.income], ['checking', 'asked']);
    const confirmed = steps(again.state, { kind: 'income', outcome: 'confirmed' });
    assert.equal(confirmed.state.place, 'summary');
    // Another one is enough for a check.
    const other = steps(run([...wayTo('checking'), operator]).state, rejected(1, 1), GIVE_BACK);
    assert.deepEqual([other.state.place, said(other)], ['checking', ['given_back', 'checking']]);
  });

  it('leads back from a confirmed income too, while the application is in review', () => {
    const inReview: Input[] = [
      { kind: 'status', status: 'in_review' },
      { kind: 'income', outcome: 'confirmed' },
    ];
    const held = steps(run(wayTo('checking')).state, ...inReview, HAND_OVER, rejected(1, 0));
    const back = step(held.state, GIVE_BACK);
    assert.deepEqual([back.state.place, back.state.income], ['earnings', null]);
    const kept = steps(run(wayTo('checking')).state, ...inReview, HAND_OVER, GIVE_BACK);
    assert.equal(kept.state.place, 'checking');
  });

  it('changes nothing for who connected an account without any file', () => {
    const flow = flowWith(DEFAULT_FLOW, { steps: { connect: true, debts: false } });
    const connected = run([...wayTo('earnings'), text('conectar')], flow);
    const held = stepped(flow, connected.state, { kind: 'income', outcome: 'operator' });
    const back = stepped(flow, held.state, GIVE_BACK);
    assert.deepEqual([back.state.place, back.state.income], ['checking', 'asked']);
  });

  it('D44: after the check goes to an operator, and the income is checked again before anybody signs', () => {
    for (const place of ['summary', 'contract', 'code'] as const) {
      const before = run(wayTo(place)).state;
      const after = step(before, rejected(1, 1));
      assert.deepEqual(
        [after.state.place, after.state.heldBy, after.state.handedOver, said(after)],
        ['checking', 'operator', 'income', ['person_will_write']],
      );
      const back = step(after.state, GIVE_BACK);
      assert.deepEqual([back.state.income, said(back)], ['asked', ['given_back', 'checking']]);
      assert.equal(step(back.state, { kind: 'income', outcome: 'confirmed' }).state.place, 'summary');
      assert.equal(steps(before, rejected(1, 0), GIVE_BACK).state.place, 'earnings');
      const held = steps(before, HAND_OVER, rejected(1, 1));
      assert.deepEqual([held.state.place, held.effects], ['checking', []]);
      assert.equal(step(held.state, GIVE_BACK).state.income, 'asked');
    }
  });

  it('of the debts changes nothing after the steps of files, and none does after the signature', () => {
    for (const place of ['summary', 'contract', 'code', 'signed'] as const) {
      const after = step(run(wayTo(place)).state, place === 'signed' ? rejected(1, 0) : debtsRejected);
      assert.deepEqual([after.state.place, after.effects], [place, []]);
    }
  });
});

describe('a rejected file that an operator accepts after all', () => {
  it('counts again, the person hears it, and the step can be left', () => {
    const none = step(run(SENT).state, rejected(1, 0));
    const after = step(none.state, decided(true, 1, 1));
    assert.deepEqual(said(after), ['file_accepted', 'earnings_again']);
    assert.equal(step(after.state, text('es todo')).state.place, 'debts');
    const lost = steps(after.state, { kind: 'unsaid' }, text('hola'));
    assert.deepEqual(said(lost), ['earnings']);
  });

  it('is silent where an operator speaks, and lets the check go on', () => {
    const operator: Input = { kind: 'income', outcome: 'operator' };
    const held = steps(run([...wayTo('checking'), operator]).state, rejected(1, 0), decided(true, 1, 1));
    assert.deepEqual(said(held), []);
    const back = step(held.state, GIVE_BACK);
    assert.deepEqual([back.state.place, said(back)], ['checking', ['given_back', 'checking']]);
  });
});

it('a damaged conversation at the check is checked again when it is given back', () => {
  const { state } = run(wayTo('checking'));
  const damaged: State = { ...state, income: null, heldBy: 'operator', handedOver: 'unreadable' };
  const back = step({ ...damaged, usable: { earnings: 0, debts: 0 } }, GIVE_BACK);
  assert.deepEqual([back.state.place, back.state.income], ['checking', 'asked']);
});
