/** An approval is told once, by the chat or by the message outside of it, whatever comes next (D40, D43). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DEFAULT_FLOW } from '../../../src/domain/conversation/default-flow.ts';
import { say } from '../../../src/domain/conversation/effect.ts';
import type { Input } from '../../../src/domain/conversation/input.ts';
import { type ApprovalMessage, newState, type State } from '../../../src/domain/conversation/state.ts';
import type { ToldReply } from '../../../src/domain/message/reply.ts';
import { approvalSaid } from '../../../src/subjects/conversation/rules/approval.ts';
import { file, OUTLOOK, said, stepped, text } from './support.ts';

const operator = (act: 'hand_over' | 'give_back' | 'close'): Input => ({ kind: 'operator', act });
const message = (fate: ApprovalMessage): Input => ({ kind: 'approval_message', message: fate });
const tap = (choice: 'yes' | 'done'): Input => ({
  ...{ kind: 'tap', place: 'earnings', nonce: 0, choice, under: 'question', atMs: 0 },
});
const APPROVED = { kind: 'status', status: 'pending_signature' } as const;
const BEGUN = stepped(DEFAULT_FLOW, newState('in_review'), { kind: 'begin', canSay: true }).state;
const IN_REVIEW: State = stepped(DEFAULT_FLOW, stepped(DEFAULT_FLOW, BEGUN, text('sí')).state, OUTLOOK).state;
const HELD = stepped(DEFAULT_FLOW, IN_REVIEW, operator('hand_over')).state;

/** The state after these inputs, and every text that was said. */
function told(state: State, inputs: readonly Input[]): { state: State; texts: string[] } {
  const texts: string[] = [];
  let now = state;
  for (const input of inputs) {
    const after = stepped(DEFAULT_FLOW, now, input);
    now = after.state;
    texts.push(...said(after));
  }
  return { state: now, texts };
}

const approvals = (texts: readonly string[]) => texts.filter((one) => one === 'approved').length;

/** What may come next, and whether the chat has something to say then: to the service's person, to an operator's. */
const NEXT: readonly (readonly [string, Input, boolean, boolean])[] = [
  ['words', text('hola'), true, false],
  ['a tap on the message', { kind: 'foreign_tap' }, true, false],
  ['a tap on a button', tap('done'), true, false],
  ['a file', file, true, false],
  ['a reaction', { kind: 'other', isQuiet: true }, true, false],
  ['a give-back', operator('give_back'), false, true],
  ['a close', operator('close'), true, true],
  ['the end of the time', { kind: 'timer', timer: 'expire', mayRemind: true }, true, false],
  ['a refusal', text('me retiro'), false, false],
  ['a wrong number', text('número equivocado'), false, false],
  ['an opt-out', text('BAJA'), false, false],
];

describe('D40, D43: an approval that the chat did not tell', () => {
  for (const fate of ['none', 'queued', 'left'] as const) {
    for (const [name, input, whenService, whenHeld] of NEXT) {
      it(`message ${fate}, then ${name}: the chat tells it only where the message has not left`, () => {
        const service = told(IN_REVIEW, [message('queued'), { ...APPROVED, canSay: false }]);
        const held = told(HELD, [message('none'), APPROVED]);
        assert.deepEqual([approvals(service.texts), approvals(held.texts)], [0, 0]);
        for (const [state, tells] of [
          [service.state, whenService],
          [held.state, whenHeld],
        ] as const) {
          const after = told(state, [message(fate), input]);
          assert.equal(approvals(after.texts), tells && fate !== 'left' ? 1 : 0);
          const later = told(after.state, [message(fate), text('hola'), text('hm')]).texts;
          assert.ok(approvals(after.texts) + approvals(later) <= (fate === 'left' ? 0 : 1));
        }
      });
    }
  }

  it('comes at once where the service speaks, the window is open, and no message has left', () => {
    for (const fate of ['none', 'queued'] as const)
      assert.deepEqual(told(IN_REVIEW, [message(fate), APPROVED]).texts, ['approved', 'earnings_again']);
    const left = told(IN_REVIEW, [message('left'), APPROVED, text('hola')]);
    assert.equal(approvals(left.texts), 0);
  });

  it('comes again where the reply that told it did not arrive, and only there', () => {
    const { state } = told(IN_REVIEW, [message('none'), APPROVED]);
    const reply = (fate: ToldReply['fate'], arrivedAt: Date | null = null): Input => ({
      ...{ kind: 'approval_reply', reply: { fate, arrivedAt } },
    });
    for (const known of [reply('queued'), reply('taken'), reply('taken', new Date(0))])
      assert.equal(approvals(told(state, [known, text('hm')]).texts), 0);
    assert.equal(approvals(told(state, [reply('lost'), text('hm'), text('hm')]).texts), 1);
  });

  it('comes later where the turn that had it to tell could not', () => {
    const { state } = told(IN_REVIEW, [message('none'), APPROVED]);
    assert.equal(approvals(told(approvalSaid(state, 7, [say('approved')]), [text('hm')]).texts), 0);
    assert.equal(approvals(told(approvalSaid(state, 7, []), [text('hm')]).texts), 1);
  });

  it('comes in the chat where the message that had left fails', () => {
    const { state } = told(IN_REVIEW, [message('left'), APPROVED, text('hola')]);
    assert.equal(approvals(told(state, [message('none'), text('hm'), text('hm')]).texts), 1);
  });

  it('is forgotten where the application is not approved any more', () => {
    const { texts } = told(HELD, [message('none'), APPROVED, { kind: 'status', status: 'rejected' }]);
    assert.deepEqual(texts, ['closed']);
  });
});

describe('D40, D43: an approval, whatever comes in whatever order', () => {
  const SAID = ['hola', '1', 'asesor'];
  const acts = fc.array(fc.constantFrom('approve', 'leave', ...SAID, 'give_back', 'hand_over', 'unsaid'), {
    maxLength: 12,
  });

  it('is told once at most, and once where the person or the give-back speaks with the service', () => {
    fc.assert(
      fc.property(
        acts,
        fc.constantFrom<ApprovalMessage>('none', 'queued'),
        fc.boolean(),
        (some, at, canSay) => {
          let [state, fate, times, isApproved] = [IN_REVIEW, 'none' as ApprovalMessage, 0, false];
          for (const act of some) {
            if (act === 'leave') {
              if (fate === 'queued') [fate, times] = ['left', times + 1];
              continue;
            }
            if (act === 'approve' && isApproved) continue;
            if (act === 'approve') [fate, isApproved] = [at, true];
            const wasHeld = state.heldBy === 'operator';
            const after = told(state, [message(fate), inputOf(act, canSay)]);
            state = after.state;
            times += approvals(after.texts);
            // The turn that tells it cancels the message.
            if (approvals(after.texts) > 0) fate = 'none';
            assert.ok(times <= 1);
            const speaks = act === 'give_back' ? wasHeld : SAID.includes(act);
            if (isApproved && speaks && state.heldBy === 'service') assert.equal(times, 1);
          }
        },
      ),
    );
  });

  function inputOf(act: string, canSay: boolean): Input {
    if (act === 'approve') return { ...APPROVED, canSay };
    if (act === 'unsaid') return { kind: 'unsaid' };
    return act === 'give_back' || act === 'hand_over' ? operator(act) : text(act);
  }
});
