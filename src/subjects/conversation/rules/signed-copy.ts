/**
 * The files that come into the chat once each after the signature: the signed contract with its certificate, and after
 * the payment the final schedule (D46; docs/conversation.md, "Inputs, turns and replies"). Pure.
 */
import { type Effect, type SayEffect, say } from '../../../domain/conversation/effect.ts';
import type { CopyReply, ScheduleReply, WorkInput } from '../../../domain/conversation/input.ts';
import type { State } from '../../../domain/conversation/state.ts';
import { moved, type Next, none } from './moves.ts';
import { inWords } from './questions.ts';

const FINISH: Effect = { kind: 'work', work: 'finish_contract' };
const SCHEDULE: Effect = { kind: 'work', work: 'make_schedule' };

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

/** The loan is paid out. Begins the making of the final schedule, as work beside the turns. */
export function paidOut(state: State): Next {
  if (state.place !== 'signed' || state.schedule === 'said') return none(state);
  return moved({ ...state, schedule: 'due' }, SCHEDULE);
}

/** The final schedule is made. It is sent once, even while an operator speaks. */
export function scheduleMade(state: State, { schedule }: Extract<WorkInput, { kind: 'schedule' }>): Next {
  const isWanted = state.place === 'signed' && state.schedule === 'due';
  if (!isWanted || schedule === null) return none(state);
  return moved(state, { ...say('schedule_copy'), document: schedule });
}

/**
 * The state after the reply of a turn is queued; `says` is what it said. A reply has one file, the last one: it is on
 * its way. Another file that was due stays due.
 */
export function copySaid(state: State, turn: number, says: readonly SayEffect[]): State {
  const sent = says.findLast(({ document }) => document !== null)?.text;
  if (sent === 'signed_copy') return { ...state, signedCopy: 'said', copyTurn: turn };
  return sent === 'schedule_copy' ? { ...state, schedule: 'said', scheduleTurn: turn } : state;
}

/** The state with what became of the reply with the copy. A reply that was thought lost may still arrive late. */
export function copyReplyKnown(state: State, { isLost }: CopyReply): State {
  return { ...state, signedCopy: isLost ? 'due' : 'said' };
}

/** The same for the reply with the final schedule. */
export function scheduleReplyKnown(state: State, { isLost }: ScheduleReply): State {
  return { ...state, schedule: isLost ? 'due' : 'said' };
}

/** The answer to a message after the end. A file that has not reached the person is made again. */
export function copyAfter(after: Next): Next {
  const withCopy = after.state.signedCopy === 'due' ? withCopyDue(after) : after;
  if (withCopy.state.schedule !== 'due') return withCopy;
  return moved(withCopy.state, ...withCopy.effects, SCHEDULE);
}
