/** How the applicant hears once that the review approved: in the chat, or by a message outside of it (D40). Pure. */
import { type SayEffect, say } from '../../../domain/conversation/effect.ts';
import { type Input, isOfPerson } from '../../../domain/conversation/input.ts';
import { isEnd } from '../../../domain/conversation/places.ts';
import { MOST_REMINDERS, type State } from '../../../domain/conversation/state.ts';
import type { ToldReply } from '../../../domain/message/reply.ts';
import { moved, type Next, none, tellOpen } from './moves.ts';
import { askAgain, isBeingMade } from './questions.ts';

/** The review has approved. `on`: what the conversation goes on to by that. A message outside is the reminder too. */
export function approved(on: Next, canSay: boolean): Next {
  const state: State = { ...on.state, approval: 'untold' };
  return { ...on, state: isByMessage(state, canSay) ? { ...state, reminders: MOST_REMINDERS } : state };
}

/** What is known of the reply that told the approval: one that is lost has told nothing. null: it is gone. */
export function approvalReplyKnown(state: State, reply: ToldReply | null): State {
  if (reply?.fate === 'lost') return { ...state, approval: 'untold', approvalTurn: null };
  const isOver = reply === null || reply.arrivedAt !== null;
  return isOver ? { ...state, approval: 'none', approvalTurn: null } : state;
}

/**
 * The state once the reply of a turn is queued, which said these. Where the turn was to tell the approval and did not,
 * because the channel's window is closed or the phone is somebody else's, the approval is still untold.
 */
export function approvalSaid(state: State, turn: number, says: readonly SayEffect[]): State {
  if (state.approval !== 'said' || state.approvalTurn !== null) return state;
  const isSaid = says.some(({ text }) => text === 'approved');
  return isSaid ? { ...state, approvalTurn: turn } : { ...state, approval: 'untold' };
}

/**
 * Tells an approval that was not told: at once, in the answer to whatever the person sends, or with the next thing that
 * the chat says, such as what follows a give-back. Where the message outside has left, the person has it or may have
 * it, and the chat adds nothing. Who has declined, withdrawn or signed needs to hear no more of it.
 */
export function tellApproval(after: Next, input: Input): Next {
  const { state, effects } = after;
  if (state.approval !== 'untold' || state.wrongPerson || state.optedOut) return after;
  if (state.status !== 'pending_signature' || KNOWING_ENDS.includes(state.place))
    return { state: { ...state, approval: 'none' }, effects };
  if (state.approvalMessage === 'left') return after;
  const isDue = effects.some(({ kind }) => kind === 'say') || asksForIt(state, input);
  if (!isDue) return after;
  const asked = effects.length > 0 ? after : withQuestion(state);
  return moved({ ...asked.state, approval: 'said', approvalTurn: null }, say('approved'), ...asked.effects);
}

const KNOWING_ENDS: readonly string[] = ['declined', 'withdrawn', 'signed'];

function asksForIt(state: State, input: Input): boolean {
  if (isEnd(state.place)) return false;
  return input.kind === 'status' ? !isByMessage(state, input.canSay ?? true) : isOfPerson(input);
}

/** Whether the message outside the chat tells it, unless the person writes or the service speaks before it goes out. */
function isByMessage({ approvalMessage, heldBy }: State, canSay: boolean): boolean {
  return approvalMessage === 'left' || (approvalMessage === 'queued' && (heldBy === 'operator' || !canSay));
}

function withQuestion(state: State): Next {
  // The question comes by itself.
  if (isBeingMade(state)) return none(state);
  return state.unsaid ? tellOpen(state) : moved(state, ...askAgain(state));
}
