/**
 * What a conversation does after a code is sent, an answer is checked, or the contract is signed or withdrawn (D46;
 * docs/signing.md, "The signature"). Pure.
 */
import { ask, type Effect, say } from '../../../domain/conversation/effect.ts';
import type { ProofInput, WorkInput } from '../../../domain/conversation/input.ts';
import { type State, UNDERSTOOD } from '../../../domain/conversation/state.ts';
import { mayWithdraw } from '../../../domain/conversation/words.ts';
import type { WithdrawalResult } from '../../../domain/loan/withdrawal.ts';
import { endAt, goOn, handOver, handOverTelling, moved, type Next, none, notUnderstood } from './moves.ts';
import { askOpen } from './questions.ts';
import { withCopyDue } from './signed-copy.ts';

/** After so many wrong answers an operator has to help. */
const MOST_WRONG = 5;

/** The code is on its way, or an operator has to help. */
export function codeSent(state: State, { result, way, minutes }: Extract<WorkInput, { kind: 'code' }>): Next {
  if (state.place !== 'code' || state.proof !== 'code_asked') return none(state);
  if (result === 'sent' || result === 'sent_again') {
    return moved(
      { ...state, ...UNDERSTOOD, proof: 'code_sent', unsaid: false },
      ...(result === 'sent_again' ? [say('code_replaced')] : []),
      ask('code', ['resend'], { way, minutes: `${minutes}` }),
    );
  }
  if (result === 'no_proof') return proveAgain(state);
  const held = handOverTelling(state, 'code');
  return moved(held.state, say('code_not_sent'), ...held.effects);
}

/** The code expired, or the last four characters were proven too long ago: both are asked for again. */
function proveAgain(before: State): Next {
  const state: State = { ...before, proof: 'none' };
  return moved(state, say('code_expired'), ...askOpen(state));
}

/** Begins the sending of a code, as work beside the turns: it may take long if the way is down. */
export function askForCode(before: State): Next {
  const state: State = { ...before, proof: 'code_asked' };
  return moved(state, { kind: 'work', work: 'send_code' }, ...askOpen(state));
}

/** The result of comparing the last four characters or the code. */
export function answerChecked(
  before: State,
  result: Extract<ProofInput, { kind: 'answer' }>['result'],
): Next {
  const { place, proof } = before;
  if (place !== 'code' || (proof !== 'none' && proof !== 'code_sent')) return none(before);
  if (result === 'right') {
    const state = { ...before, ...UNDERSTOOD };
    if (proof === 'none') return askForCode(state);
    return moved({ ...state, proof: 'code' }, { kind: 'sign' });
  }
  if (result === 'unreadable') return notUnderstood(before);
  // The contract's time is over: another one is made and shown.
  if (result === 'expired' && proof === 'none') return goOn(before, 'contract');
  if (result === 'expired') return proveAgain(before);
  const repeats = before.repeats + 1;
  if (result === 'spent' || repeats >= MOST_WRONG) return handOverTelling(before, 'code');
  const state = { ...before, repeats };
  return moved(state, say('answer_wrong'), ...askOpen(state));
}

/** The result of signing the contract that was shown and accepted. */
export function signed(
  state: State,
  { result, withdrawal }: Extract<ProofInput, { kind: 'signature' }>,
): Next {
  if (state.place !== 'code' || state.proof !== 'code' || state.acceptedContract === null) return none(state);
  // The channel took the contract, and later told that it did not arrive.
  if (result === 'not_shown') return goOn({ ...state, proof: 'none' }, 'contract');
  if (result === 'not_signable') return handOverTelling({ ...state, proof: 'none' }, 'not_signable');
  const right = withdrawal === null ? [] : [say('withdrawal_right', { until: withdrawal.lastDay })];
  const until = {
    withdrawableUntilMs: withdrawal?.untilMs ?? null,
    lastDayToWithdraw: withdrawal?.lastDay ?? null,
  };
  const event = { kind: 'tell', event: 'contract.signed' } as const;
  return withCopyDue(endAt({ ...state, ...until }, 'signed', event, say('signed'), ...right));
}

/** The result of a withdrawal: the signature was taken back, or it was too late for that. */
export function withdrawn(state: State, result: WithdrawalResult): Next {
  if (state.place !== 'signed') return none(state);
  if (result === 'withdrawn') {
    const { state: ended } = endAt(state, 'withdrawn');
    return moved(ended, { kind: 'tell', event: 'contract.withdrawn' }, say('withdrawn'));
  }
  if (result === 'paid_out') return handOver(state, 'withdrawal', ...PAID_OUT);
  if (state.heldBy === 'operator') return none(state);
  // If a rejection has already ended the contract, an operator explains it.
  return handOver(
    state,
    'withdrawal',
    say(result === 'rejected' ? 'person_will_write' : 'withdraw_too_late'),
  );
}

/** The right still holds after the payment, and an operator settles the rest. */
const PAID_OUT: readonly Effect[] = [
  { kind: 'evidence', act: 'withdrawal_asked' },
  say('withdrawn'),
  say('person_will_write'),
];

/**
 * An operator reads a text that may be a withdrawal, because the law asks for no certain word. The person hears which
 * word is enough. Null: the text cannot be a withdrawal, or the signature may not be withdrawn.
 */
export function withdrawnInOwnWords(state: State, text: string): Next | null {
  const { withdrawableUntilMs, lastDayToWithdraw: until, wrongPerson } = state;
  if (state.place !== 'signed' || withdrawableUntilMs === null || wrongPerson || !mayWithdraw(text))
    return null;
  const word = until === null ? [] : [say('withdrawal_word', { until })];
  return handOver(state, 'withdrawal', ...word, say('person_will_write'));
}
