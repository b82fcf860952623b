/**
 * What a conversation does with each input (D43). `next` is pure and total: every input in every state has an answer,
 * without a clock and without input or output.
 */
import { isOpen } from '../../applications/rules/lifecycle.ts';
import { answerOf, atEnd, whileHeld } from './answers.ts';
import type { Effect } from './effect.ts';
import { say } from './effect.ts';
import type { Flow } from './flow.ts';
import { type Input, isOfPerson, type PersonInput } from './input.ts';
import { endAt, goOn, handOver, handOverTelling, moved, type Next, none, tellOpen } from './moves.ts';
import { isEnd } from './places.ts';
import { askAgain, isBeingMade } from './questions.ts';
import { resultOf } from './results.ts';
import { waitsForStep } from './source-steps.ts';
import { type State, UNDERSTOOD } from './state.ts';
import { asksToStop, type Meaning, meaningsOf } from './words.ts';

/** The next state, and what has to be done. An operator's conversation says nothing. */
export function next(flow: Flow, state: State, input: Input): Next {
  const after = reached(flow, state, input);
  const isSilent = after.state.optedOut || (state.heldBy === 'operator' && after.state.heldBy === 'operator');
  return isSilent ? { ...after, effects: after.effects.filter(({ kind }) => !SENDS.includes(kind)) } : after;
}

const SENDS: readonly Effect['kind'][] = ['say', 'remind'];

function reached(flow: Flow, state: State, input: Input): Next {
  if (input.kind === 'opted_out') return optOut(state, null);
  if (input.kind === 'text' && asksToStop(input.body)) return optOut(state, input.body);
  if (isOfPerson(input)) return fromPerson(flow, state, input);
  switch (input.kind) {
    case 'begin':
      return begin(state, input);
    case 'status':
      return statusChanged(flow, state, input.status);
    case 'operator':
      return operatorActs(flow, state, input.act);
    case 'timer':
      return timerRings(state, input.timer);
    case 'unreadable':
      return isEnd(state.place) ? none(state) : handOverTelling(state, 'unreadable');
    case 'unsaid':
      if (isEnd(state.place)) return none({ ...state, toldEnd: false });
      return none(isBeingMade(state) ? state : { ...state, unsaid: true });
    default:
      return resultOf(flow, state, input);
  }
}

/**
 * The person wants no more messages: nothing follows, not even a confirmation. What else the words mean is recorded.
 */
function optOut(before: State, words: string | null): Next {
  const state = { ...before, optedOut: true };
  const meanings: ReadonlySet<Meaning> = words === null ? new Set() : meaningsOf(words);
  const withdraws = meanings.has('withdraw');
  if (state.place === 'signed' && withdraws) return moved(state, { kind: 'withdraw' });
  if (state.place === 'closed' && before.optedOut && !before.toldEnd) return lateWords(state, meanings);
  if (isEnd(state.place)) return none(state);
  if (withdraws) return endAt(state, 'withdrawn', { kind: 'evidence', act: 'withdrawal_asked' });
  if (!meanings.has('no')) return endAt(state, 'closed');
  const isConsent = state.place === 'data_consent' || state.place === 'started';
  return endAt(state, 'declined', {
    kind: 'evidence',
    act: isConsent ? 'data_consent_refused' : 'declined',
  });
}

/** The opt-out was known long before its words came. What they mean is recorded once. */
function lateWords(state: State, meanings: ReadonlySet<Meaning>): Next {
  const act = meanings.has('withdraw') ? 'withdrawal_asked' : meanings.has('no') ? 'declined' : null;
  return act === null ? none(state) : moved({ ...state, toldEnd: true }, { kind: 'evidence', act });
}

function fromPerson(flow: Flow, before: State, input: PersonInput): Next {
  if (before.optedOut || (input.kind === 'other' && input.isQuiet)) return none(before);
  if (input.kind === 'tap' && isSecondOfTwo(before, input)) return none(before);
  const state: State = { ...before, reminders: 0, ...(input.kind === 'tap' && { tapped: tapOf(input) }) };
  if (isEnd(state.place)) return atEnd(flow, state, input);
  if (state.heldBy === 'operator') return whileHeld(flow, state, input);
  return answerOf(flow, state, input);
}

type Tap = Extract<PersonInput, { kind: 'tap' }>;

/** A thumb that taps a button twice taps it once: what the first tap did stands, also where it was old. */
const DOUBLE_TAP_MS = 2_000;

function isSecondOfTwo({ tapped }: State, { place, nonce, choice, under, atMs }: Tap): boolean {
  return (
    tapped !== null &&
    tapped.place === place &&
    tapped.nonce === nonce &&
    tapped.choice === choice &&
    tapped.under === under &&
    Math.abs(atMs - tapped.atMs) <= DOUBLE_TAP_MS
  );
}

function tapOf({ place, nonce, choice, under, atMs }: Tap): State['tapped'] {
  return { place, nonce, choice, under, atMs };
}

function begin(state: State, { canSay }: Extract<Input, { kind: 'begin' }>): Next {
  if (state.place !== 'started' || state.nonce !== 0) return none(state);
  const started = { kind: 'tell', event: 'conversation.started' } as const;
  if (canSay) return goOn(state, 'data_consent', started);
  // The timer sends the template that reminds.
  return moved({ ...state, nonce: 1, unsaid: true }, started);
}

function statusChanged(flow: Flow, before: State, status: State['status']): Next {
  if (status === before.status) return none(before);
  const state = { ...before, status };
  if (isEnd(state.place)) return none(state);
  if (!isOpen(status)) return endAt(state, 'closed', say('closed'));
  return goOnIfReady(flow, state);
}

function goOnIfReady(flow: Flow, state: State): Next {
  return resultOf(flow, state, { kind: 'nothing' });
}

function operatorActs(flow: Flow, state: State, act: 'hand_over' | 'give_back' | 'close'): Next {
  switch (act) {
    case 'hand_over':
      return state.heldBy === 'operator' ? none(state) : handOver(state, 'operator');
    case 'close':
      return isEnd(state.place) ? none(state) : endAt(state, 'closed', say('closed'));
    case 'give_back':
      return state.heldBy === 'service' ? none(state) : givenBack(flow, state);
  }
}

/** The question is asked again, and what waited for an operator is tried again. */
function givenBack(flow: Flow, held: State): Next {
  const state: State = { ...held, heldBy: 'service', handedOver: null, refused: 0, ...UNDERSTOOD };
  if (isEnd(state.place)) return none(state);
  const isUnchecked = state.income === 'operator' || state.income === 'asked' || waitsForStep(state);
  if (state.place === 'checking' && isUnchecked) {
    const again = { ...state, income: 'asked', sourceSteps: 0 } as const;
    return moved(again, say('given_back'), say('checking'), { kind: 'work', work: 'check_income' });
  }
  if (state.place === 'started') return goOn(state, 'data_consent', say('given_back'));
  // Nothing tells any more what was accepted, because the row was damaged.
  if (state.place === 'code' && state.acceptedContract === null) {
    return goOn(state, 'contract', say('given_back'));
  }
  // A code that was spent is asked for anew, after the last four characters.
  const asking: State = state.place === 'code' ? { ...state, proof: 'none' } : state;
  const on = goOnIfReady(flow, asking);
  return on.effects.length > 0
    ? moved(on.state, say('given_back'), ...on.effects)
    : tellOpen(asking, say('given_back'));
}

function timerRings(state: State, timer: 'remind' | 'template' | 'expire'): Next {
  if (isEnd(state.place) || state.heldBy === 'operator' || state.optedOut) return none(state);
  switch (timer) {
    case 'remind':
      return state.unsaid
        ? tellOpen({ ...state, reminders: 1 }, say('reminder'))
        : moved({ ...state, reminders: 1 }, say('reminder'), ...askAgain(state));
    case 'template':
      return moved({ ...state, reminders: 2 }, { kind: 'remind' });
    case 'expire':
      return endAt(state, 'expired', say('expired'));
  }
}
