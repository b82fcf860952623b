/** What a conversation does with the ends of what is proven: the answers and the signature. Pure. */
import { ask, say } from './effect.ts';
import type { ProofInput, WorkInput } from './input.ts';
import { endAt, goOn, handOver, handOverTelling, moved, type Next, none, notUnderstood } from './moves.ts';
import { askOpen } from './questions.ts';
import { type State, UNDERSTOOD } from './state.ts';

/** Wrong answers from which on an operator has to help. */
const MOST_WRONG = 5;

/** The code is on its way, or an operator has to help. */
export function codeSent(state: State, { result, way, minutes }: Extract<WorkInput, { kind: 'code' }>): Next {
  if (state.place !== 'code' || state.proof !== 'code_asked') return none(state);
  if (result === 'sent') {
    return moved(
      { ...state, proof: 'code_sent', unsaid: false },
      ask('code', ['resend'], { way, minutes: `${minutes}` }),
    );
  }
  if (result === 'no_proof') return proveAgain(state);
  const held = handOverTelling(state, 'code');
  return moved(held.state, say('code_not_sent'), ...held.effects);
}

/** A code that expired, or whose ID number was proven long ago: both are asked for again. */
function proveAgain(before: State): Next {
  const state: State = { ...before, proof: 'none' };
  return moved(state, say('code_expired'), ...askOpen(state));
}

/** An answer to the last four characters or to the code. */
export function answerChecked(
  before: State,
  result: Extract<ProofInput, { kind: 'answer' }>['result'],
): Next {
  const { place, proof } = before;
  if (place !== 'code' || (proof !== 'none' && proof !== 'code_sent')) return none(before);
  if (result === 'right') {
    const state = { ...before, ...UNDERSTOOD };
    if (proof === 'none')
      return moved({ ...state, proof: 'code_asked' }, { kind: 'work', work: 'send_code' });
    return moved({ ...state, proof: 'code' }, { kind: 'sign' });
  }
  if (result === 'unreadable') return notUnderstood(before);
  // The contract was shown too long ago: it is made and shown again.
  if (result === 'expired' && proof === 'none') return goOn(before, 'contract');
  if (result === 'expired') return proveAgain(before);
  const repeats = before.repeats + 1;
  if (result === 'spent' || repeats >= MOST_WRONG) return handOverTelling(before, 'code');
  const state = { ...before, repeats };
  return moved(state, say('answer_wrong'), ...askOpen(state));
}

/** Signed: the contract that was shown and accepted, by the person who knows both. */
export function signed(state: State, { result, until }: Extract<ProofInput, { kind: 'signature' }>): Next {
  if (state.place !== 'code' || state.proof !== 'code' || state.acceptedContract === null) return none(state);
  // The channel took the contract, and told later that it did not arrive.
  if (result === 'not_shown') return goOn({ ...state, proof: 'none' }, 'contract');
  if (result === 'not_signable') return handOverTelling({ ...state, proof: 'none' }, 'not_signable');
  const right = until === null ? [] : [say('withdrawal_right', { until })];
  return endAt(state, 'signed', { kind: 'tell', event: 'contract.signed' }, say('signed'), ...right);
}

/** The signature was taken back, or it was too late for that. */
export function withdrawn(state: State, result: 'withdrawn' | 'too_late' | 'not_signed'): Next {
  if (state.place !== 'signed') return none(state);
  if (result === 'withdrawn') {
    const { state: ended } = endAt(state, 'withdrawn');
    return moved(ended, { kind: 'tell', event: 'contract.withdrawn' }, say('withdrawn'));
  }
  return state.heldBy === 'operator' ? none(state) : handOver(state, 'asked', say('withdraw_too_late'));
}
