/** An operator gives a conversation back at a step; and what counts while an operator holds it (D43). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_FLOW } from '../../../src/domain/conversation/default-flow.ts';
import type { Input } from '../../../src/domain/conversation/input.ts';
import { ENDS, STEPS } from '../../../src/domain/conversation/places.ts';
import { stepsBack } from '../../../src/subjects/conversation/rules/operator-acts.ts';
import { contract, file, GOOD, OFFER, read, run, SHA, said, stepped, text, wayTo } from './support.ts';

const HAND_OVER: Input = { kind: 'operator', act: 'hand_over' };
const SENT: Input = { kind: 'code', result: 'sent', way: 'SMS', minutes: 10 };
const WITHOUT_FILES = { ...DEFAULT_FLOW, steps: { ...DEFAULT_FLOW.steps, earnings: false, debts: false } };

describe('the steps to which a conversation can be given back', () => {
  it('are the present one, and the earlier ones of its flow after the consent', () => {
    const all = ['earnings', 'debts', 'checking', 'summary', 'contract', 'code'] as const;
    for (const place of ['started', 'data_consent'] as const)
      assert.deepEqual(stepsBack(DEFAULT_FLOW, place), [place]);
    for (const [index, place] of all.entries())
      assert.deepEqual(stepsBack(DEFAULT_FLOW, place), all.slice(0, index + 1), place);
    assert.deepEqual(stepsBack(WITHOUT_FILES, 'code'), ['summary', 'contract', 'code']);
    for (const end of ENDS) assert.deepEqual(stepsBack(DEFAULT_FLOW, end), []);
  });

  it('from each place the conversation goes to each of its steps, and from there to the signature', () => {
    const toSignature: Readonly<Record<string, readonly Input[]>> = {
      earnings: [file, read, text('es todo')],
      debts: [text('omitir')],
      checking: [
        { kind: 'income', outcome: 'confirmed' },
        { kind: 'offer', offer: OFFER },
      ],
      summary: [{ kind: 'offer', offer: OFFER }, text('sí'), contract(SHA)],
      contract: [contract(SHA), text('acepto')],
      code: [text('1234'), SENT, text('123456')],
    };
    for (const place of ['debts', 'checking', 'summary', 'contract', 'code'] as const) {
      for (const step of stepsBack(DEFAULT_FLOW, place)) {
        const held = stepped(DEFAULT_FLOW, run(wayTo(place)).state, HAND_OVER);
        const back = stepped(DEFAULT_FLOW, held.state, { kind: 'operator', act: 'give_back', step });
        assert.deepEqual([back.state.place, back.state.heldBy], [step, 'service'], `${place} to ${step}`);
        assert.equal(said(back)[0], 'given_back');
        let { state } = back;
        for (let turns = 0; state.place !== 'signed' && turns < 10; turns += 1)
          for (const input of toSignature[state.place]!) ({ state } = stepped(DEFAULT_FLOW, state, input));
        assert.equal(state.place, 'signed', `${place} to ${step}`);
      }
    }
  });

  it('a step that the conversation cannot go back to leaves it where it stands', () => {
    for (const step of STEPS.filter((one) => !stepsBack(DEFAULT_FLOW, 'debts').includes(one))) {
      const held = stepped(DEFAULT_FLOW, run(wayTo('debts')).state, HAND_OVER);
      const back = stepped(DEFAULT_FLOW, held.state, { kind: 'operator', act: 'give_back', step });
      assert.deepEqual([back.state.place, back.state.heldBy], ['debts', 'service'], step);
    }
  });
});

describe('while an operator holds the conversation', () => {
  const held = stepped(DEFAULT_FLOW, run([...wayTo('code'), text('1234'), SENT]).state, HAND_OVER).state;

  it('the code signs, as it does in the chat', () => {
    assert.equal(stepped(DEFAULT_FLOW, held, text('123456')).state.place, 'signed');
  });

  it('a wrong code counts as one, and says nothing; other words are no code', () => {
    const wrong = { ...GOOD, answer: () => 'wrong' as const };
    const after = stepped(DEFAULT_FLOW, held, text('654321'), wrong);
    assert.deepEqual([after.state.repeats, after.state.heldBy, said(after)], [1, 'operator', []]);
    assert.equal(stepped(DEFAULT_FLOW, held, text('¿cuál código?'), wrong).state.repeats, 0);
  });

  it('digits are no code where none is waited for', () => {
    const waits = stepped(DEFAULT_FLOW, run(wayTo('code')).state, HAND_OVER).state;
    const after = stepped(DEFAULT_FLOW, waits, text('1234'), { ...GOOD, answer: () => 'wrong' });
    assert.deepEqual([after.state, after.effects], [waits, []]);
  });
});
