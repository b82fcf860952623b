/**
 * The signed contract with its certificate, which comes into the chat once after the signature (D46;
 * docs/conversation.md, "Inputs, turns and replies"). Pure.
 */
import { type Effect, type SayEffect, say } from '../../../domain/conversation/effect.ts';
import type { CopyReply, WorkInput } from '../../../domain/conversation/input.ts';
import type { State } from '../../../domain/conversation/state.ts';
import { moved, type Next, none } from './moves.ts';
import { inWords } from './questions.ts';

const FINISH: Effect = { kind: 'work', work: 'finish_contract' };

/**
 * Begins the making of the signed contract, as work beside the turns: its certificate names the signature, so it can
 * only be made afterwards.
 */
export function withCopyDue({ state, effects }: Next): Next {
  return moved({ ...state, signedCopy: 'due' }, ...effects, FINISH);
}

/** The signed contract is made. It is sent once, even while an operator speaks. */
export function copyMade(state: State, { contract }: Extract<WorkInput, { kind: 'signed_contract' }>): Next {
  const isWanted = state.place === 'signed' && state.signedCopy === 'due';
  if (!isWanted || contract === null) return none(state);
  return moved(state, { ...say('signed_copy', { hash: inWords(contract.sha256) }), document: contract });
}

/**
 * The state after the reply of a turn is queued; `says` is what it said. If the copy is among that, it is on its way.
 */
export function copySaid(state: State, turn: number, says: readonly SayEffect[]): State {
  const isSaid = says.some(({ text }) => text === 'signed_copy');
  return isSaid ? { ...state, signedCopy: 'said', copyTurn: turn } : state;
}

/** The state with what became of the reply with the copy. A reply that was thought lost may still arrive late. */
export function copyReplyKnown(state: State, { isLost }: CopyReply): State {
  return { ...state, signedCopy: isLost ? 'due' : 'said' };
}

/** The answer to a message after the end. A copy that has not reached the person is made again. */
export function copyAfter(after: Next): Next {
  return after.state.signedCopy === 'due' ? withCopyDue(after) : after;
}
