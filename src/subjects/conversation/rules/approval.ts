/**
 * How the applicant hears exactly once that the review approved: in the chat, or by a message outside of it (D40;
 * docs/conversation.md, "When the review approves"). Pure.
 */
import { type SayEffect, say } from '../../../domain/conversation/effect.ts';
import { type Input, isOfPerson } from '../../../domain/conversation/input.ts';
import { isEnd } from '../../../domain/conversation/places.ts';
import { MOST_REMINDERS, type State } from '../../../domain/conversation/state.ts';
import type { ToldReply } from '../../../domain/message/reply.ts';
import { moved, type Next, none, tellOpen } from './moves.ts';
import { askAgain, isBeingMade } from './questions.ts';

/**
 * The review has approved the application. `on`: where the conversation goes after that. A message outside the chat
 * also serves as the reminder.
 */
export function approved(on: Next, canSay: boolean): Next {
  const state: State = { ...on.state, approval: 'untold' };
  return { ...on, state: isByMessage(state, canSay) ? { ...state, reminders: MOST_REMINDERS } : state };
}

/**
 * The state with what became of the reply that told the approval. A lost reply has told nothing. `reply` null: its row
 * is gone.
 */
export function approvalReplyKnown(state: State, reply: ToldReply | null): State {
  if (reply?.fate === 'lost') return { ...state, approval: 'untold', approvalTurn: null };
  const isOver = reply === null || reply.arrivedAt !== null;
  return isOver ? { ...state, approval: 'none', approvalTurn: null } : state;
}

/**
 * The state after the reply of a turn is queued; `says` is what it said. If the turn was to tell the approval and did
 * not, because the channel's window is closed or the phone is another person's, the approval is still untold.
 */
export function approvalSaid(state: State, turn: number, says: readonly SayEffect[]): State {
  if (state.approval !== 'said' || state.approvalTurn !== null) return state;
  const isSaid = says.some(({ text }) => text === 'approved');
  return isSaid ? { ...state, approvalTurn: turn } : { ...state, approval: 'untold' };
}

/**
 * Tells an approval that is still untold: at once, in the answer to whatever the person sends, or with the next thing
 * that the chat says, such as after a give-back. If the message outside the chat has left, the person may have it, and
 * the chat says nothing. A person who has declined, withdrawn or signed does not hear it.
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

/**
 * Whether the message outside the chat will tell it, unless the person writes, or the service speaks, before the
 * message goes out.
 */
function isByMessage({ approvalMessage, heldBy }: State, canSay: boolean): boolean {
  return approvalMessage === 'left' || (approvalMessage === 'queued' && (heldBy === 'operator' || !canSay));
}

function withQuestion(state: State): Next {
  // The open question is being made, and comes by itself.
  if (isBeingMade(state)) return none(state);
  return state.unsaid ? tellOpen(state) : moved(state, ...askAgain(state));
}
