/**
 * The ways from one state of a conversation to the next, with the effects of each. Pure. D43 and docs/conversation.md
 * have the rule.
 */
import { ask, type Effect, say } from '../../../domain/conversation/effect.ts';
import type { End, HandOverReason, Step } from '../../../domain/conversation/places.ts';
import { at, type State, UNDERSTOOD } from '../../../domain/conversation/state.ts';
import { asAsked, askAgain, askOpen } from './questions.ts';

/** The next state, and the effects to perform, in their order. */
export interface Next {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** A state without effects. */
export function none(state: State): Next {
  return { state, effects: [] };
}

/** A state with effects. */
export function moved(state: State, ...effects: readonly Effect[]): Next {
  return { state, effects };
}

/** Goes on to a step and asks its question, after these effects. */
export function goOn(state: State, step: Step, ...effects: readonly Effect[]): Next {
  const there = { ...at(state, step), unsaid: false };
  return moved(there, ...effects, ...askOpen(there));
}

/** Tells the whole open question, after these effects. */
export function tellOpen(state: State, ...effects: readonly Effect[]): Next {
  const asked = asAsked(state);
  return moved(asked, ...effects, ...askOpen(asked));
}

/** After so many tries in a row to tell one question that did not arrive, an operator helps. */
const MOST_UNTOLD = 5;

/**
 * Tells the open question again, because it did not reach the person, or perhaps did not. After several tries an
 * operator has to help.
 */
export function tellAgain(state: State): Next {
  const retold = state.askedTurn === null && !state.unsaid ? state.retold : state.retold + 1;
  return retold >= MOST_UNTOLD ? handOverTelling(state, 'not_shown') : tellOpen({ ...state, retold });
}

/** Ends the conversation. The partner hears of the end after these effects. */
export function endAt(state: State, end: End, ...effects: readonly Effect[]): Next {
  const ended: State = { ...at(state, end), unsaid: false, heldBy: 'service', handedOver: null };
  return moved(ended, ...effects, { kind: 'tell', event: 'conversation.ended', outcome: end });
}

/** Hands the conversation over: from now on an operator speaks, and the service is silent. */
export function handOver(state: State, reason: HandOverReason, ...effects: readonly Effect[]): Next {
  return moved({ ...state, heldBy: 'operator', handedOver: reason, ...UNDERSTOOD }, ...effects);
}

/** Hands the conversation over, and tells the person that an operator will write. */
export function handOverTelling(state: State, reason: HandOverReason): Next {
  return handOver(
    state,
    reason,
    say(reason === 'asked' || reason === 'not_understood' ? 'handed_over' : 'person_will_write'),
  );
}

/** With this misunderstood input in a row the service offers a person. */
export const OFFERS_PERSON_AT = 2;

/** Asks the question in other words, then offers a person, then hands the conversation over. */
export function notUnderstood(state: State): Next {
  const misunderstood = state.misunderstood + 1;
  if (misunderstood > OFFERS_PERSON_AT) return handOverTelling(state, 'not_understood');
  const asked: readonly Effect[] =
    misunderstood < OFFERS_PERSON_AT
      ? [say('not_understood'), ...askAgain(state)]
      : [ask('offer_person', ['go_on', 'person'])];
  return moved({ ...state, misunderstood }, ...asked);
}
