/** The signed contract with its certificate, which follows the signature into the chat, once (D46). Pure. */
import { type Effect, type SayEffect, say } from '../../../domain/conversation/effect.ts';
import type { CopyReply, WorkInput } from '../../../domain/conversation/input.ts';
import type { State } from '../../../domain/conversation/state.ts';
import { moved, type Next, none } from './moves.ts';
import { inWords } from './questions.ts';

const FINISH: Effect = { kind: 'work', work: 'finish_contract' };

/** The signed contract is made beside the conversation, because its certificate tells of the signature itself. */
export function withCopyDue({ state, effects }: Next): Next {
  return moved({ ...state, signedCopy: 'due' }, ...effects, FINISH);
}

/** The signed contract is made: it is said once, also while an operator speaks. */
export function copyMade(state: State, { contract }: Extract<WorkInput, { kind: 'signed_contract' }>): Next {
  const isWanted = state.place === 'signed' && state.signedCopy === 'due';
  if (!isWanted || contract === null) return none(state);
  return moved(state, { ...say('signed_copy', { hash: inWords(contract.sha256) }), document: contract });
}

/** The state once the reply of a turn is queued, which said these: the copy is on its way where it is among them. */
export function copySaid(state: State, turn: number, says: readonly SayEffect[]): State {
  const isSaid = says.some(({ text }) => text === 'signed_copy');
  return isSaid ? { ...state, signedCopy: 'said', copyTurn: turn } : state;
}

/** What is known of the reply with the copy now: one that may have been lost may arrive late. */
export function copyReplyKnown(state: State, { isLost }: CopyReply): State {
  return { ...state, signedCopy: isLost ? 'due' : 'said' };
}

/** The answer to a message after the end; a copy that has not reached the person is made again. */
export function copyAfter(after: Next): Next {
  return after.state.signedCopy === 'due' ? withCopyDue(after) : after;
}
