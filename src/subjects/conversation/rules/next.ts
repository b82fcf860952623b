/**
 * What a conversation does with each input (D43; docs/conversation.md). `next` is pure and total: every input has an
 * answer in every state, without a clock and without input or output.
 */
import { isOpen } from '../../../domain/application/lifecycle.ts';
import type { Effect } from '../../../domain/conversation/effect.ts';
import { say } from '../../../domain/conversation/effect.ts';
import type { Flow } from '../../../domain/conversation/flow.ts';
import { type Input, isOfPerson, type PersonInput } from '../../../domain/conversation/input.ts';
import { isEnd } from '../../../domain/conversation/places.ts';
import { MOST_REMINDERS, type State } from '../../../domain/conversation/state.ts';
import { asksToStop, type Meaning, meaningsOf } from '../../../domain/conversation/words.ts';
import { answerOf, atEnd, whileHeld } from './answers.ts';
import { approvalReplyKnown, approved, tellApproval } from './approval.ts';
import { debtsKnown, documentDecided, heardOfFiles } from './files.ts';
import { endAt, goOn, handOver, handOverTelling, moved, type Next, none, tellOpen } from './moves.ts';
import { operatorActs } from './operator-acts.ts';
import { withdrawnInOwnWords } from './proofs.ts';
import { askAgain, isBeingMade } from './questions.ts';
import { resultOf } from './results.ts';
import { copyAfter, copyReplyKnown, paidOut, scheduleReplyKnown } from './signed-copy.ts';

/**
 * The next state, and what has to be done. A wrong person hears nothing. While an operator holds the conversation, the
 * service says nothing; only the signed contract and the final schedule still come.
 */
export function next(flow: Flow, state: State, input: Input): Next {
  const after = reached(flow, state, input);
  const isHeld = state.heldBy === 'operator' && after.state.heldBy === 'operator';
  const isSilent =
    after.state.optedOut ||
    (state.wrongPerson && after.state.wrongPerson) ||
    (isHeld && !STILL_COMES.includes(input.kind));
  return isSilent
    ? { ...after, effects: after.effects.filter(({ kind }) => !SENDS.includes(kind)) }
    : tellApproval(after, input);
}

const STILL_COMES: readonly Input['kind'][] = ['signed_contract', 'schedule'];
const SENDS: readonly Effect['kind'][] = ['say', 'remind'];

function reached(flow: Flow, state: State, input: Input): Next {
  if (input.kind === 'opted_out') return optOut(state, null);
  if (input.kind === 'text' && asksToStop(input.body)) return optOut(state, input.body);
  if (isOfPerson(input)) return fromPerson(flow, state, input);
  switch (input.kind) {
    case 'begin':
      return begin(state, input);
    case 'status':
      return statusChanged(flow, state, input);
    case 'operator':
      return operatorActs(flow, state, input);
    case 'withdrawal_received':
      return state.place === 'signed' ? moved(state, { kind: 'withdraw' }) : none(state);
    case 'paid_out':
      return paidOut(state);
    case 'timer':
      return timerRings(state, input);
    case 'debts':
      return debtsKnown(flow, state, input);
    case 'approval_message':
      return none({ ...state, approvalMessage: input.message });
    case 'approval_reply':
      return none(approvalReplyKnown(state, input.reply));
    case 'document_decided':
      return isEnd(state.place) ? none(state) : documentDecided(state, input);
    case 'other_phone':
      // Nothing is said, because the application's phone may belong to somebody else by now.
      return state.heldBy === 'operator' ? none(state) : handOver(state, 'other_phone');
    case 'next_day':
      return none(nextDay(state));
    case 'withdrawal_over':
      return none({ ...state, withdrawableUntilMs: null, lastDayToWithdraw: null });
    case 'unreadable':
      return isEnd(state.place) ? none(state) : handOverTelling(state, 'unreadable');
    case 'unsaid':
      if (isEnd(state.place)) return none(toTellEnd(state));
      return none(isBeingMade(state) ? state : { ...state, unsaid: true });
    case 'copy_reply':
      return none(copyReplyKnown(state, input));
    case 'schedule_reply':
      return none(scheduleReplyKnown(state, input));
    default:
      return resultOf(flow, state, input);
  }
}

/**
 * The person wants no more messages, so nothing follows, not even a confirmation. What else the words mean is recorded.
 */
function optOut(before: State, words: string | null): Next {
  const state = { ...before, optedOut: true };
  const meanings: ReadonlySet<Meaning> = words === null ? new Set() : meaningsOf(words);
  const withdraws = meanings.has('withdraw');
  if (state.place === 'signed' && withdraws) return moved(state, { kind: 'withdraw' });
  const inOwnWords = words === null ? null : withdrawnInOwnWords(state, words);
  if (inOwnWords !== null) return inOwnWords;
  if (state.place === 'closed' && before.optedOut && !before.toldEnd) return lateWords(state, meanings);
  if (isEnd(state.place)) return none(state);
  // Words of a wrong person are not the applicant's, so they mean nothing else.
  if (before.wrongPerson) return endAt(state, 'closed');
  if (withdraws) return endAt(state, 'withdrawn', { kind: 'evidence', act: 'withdrawal_asked' });
  if (!meanings.has('no')) return endAt(state, 'closed');
  const isConsent = state.place === 'started' || (state.place === 'data_consent' && state.outlook === 'none');
  return endAt(state, 'declined', {
    kind: 'evidence',
    act: isConsent ? 'data_consent_refused' : 'declined',
  });
}

/** The opt-out was known some time before its words came. What else they mean is recorded once. */
function lateWords(state: State, meanings: ReadonlySet<Meaning>): Next {
  const act = meanings.has('withdraw') ? 'withdrawal_asked' : meanings.has('no') ? 'declined' : null;
  return act === null ? none(state) : moved({ ...state, toldEnd: true }, { kind: 'evidence', act });
}

function fromPerson(flow: Flow, before: State, input: PersonInput): Next {
  if (before.optedOut || before.wrongPerson) return whileMute(before, input);
  if (input.kind === 'other' && input.isQuiet) return none(before);
  if (input.kind === 'tap' && isSecondOfTwo(before, input)) return none(before);
  const state: State = { ...before, reminders: 0, ...(input.kind === 'tap' && { tapped: tapOf(input) }) };
  if (isEnd(state.place)) return copyAfter(atEnd(flow, state, input));
  if (state.heldBy === 'operator') return whileHeld(flow, state, input);
  return answerOf(flow, heardOfFiles(state), input);
}

/** After an opt-out, and for a wrong person, nothing is said. A signature can still be withdrawn. */
function whileMute(state: State, input: PersonInput): Next {
  if (input.kind !== 'text' || state.place !== 'signed') return none(state);
  if (meaningsOf(input.body).has('withdraw')) return moved(state, { kind: 'withdraw' });
  return withdrawnInOwnWords(state, input.body) ?? none(state);
}

type Tap = Extract<PersonInput, { kind: 'tap' }>;

/** Two taps of one button within this time count as one, even if the button was old. */
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
  if (state.place !== 'started' || state.unsaid) return none(state);
  const started = { kind: 'tell', event: 'conversation.started' } as const;
  if (canSay) return goOn(state, 'data_consent', started);
  // The person has to write first. The timer sends the template that reminds.
  return moved({ ...state, nonce: state.nonce + 1, unsaid: true }, started);
}

function statusChanged(
  flow: Flow,
  before: State,
  { status, canSay = true }: Extract<Input, { kind: 'status' }>,
): Next {
  if (status === before.status) return none(before);
  const state = { ...before, status };
  if (isEnd(state.place)) return none(state);
  if (!isOpen(status)) return endAt(state, 'closed', say('closed'));
  const on = goOnIfReady(flow, state);
  return before.status === 'in_review' ? approved(on, canSay) : on;
}

function goOnIfReady(flow: Flow, state: State): Next {
  return resultOf(flow, state, { kind: 'nothing' });
}

/** On the next day the person hears again what the service waits for, or how the conversation ended. */
function nextDay(state: State): State {
  if (state.place === 'checking') return { ...state, repeats: 0 };
  return isEnd(state.place) ? toTellEnd(state) : state;
}

/**
 * The person is to be told the end again. After an opt-out nothing is told: there `toldEnd` says that the words are
 * recorded.
 */
function toTellEnd(state: State): State {
  return state.optedOut ? state : { ...state, toldEnd: false };
}

function timerRings(state: State, { timer, mayRemind }: Extract<Input, { kind: 'timer' }>): Next {
  if (isEnd(state.place) || state.heldBy === 'operator' || state.optedOut) return none(state);
  switch (timer) {
    case 'remind':
      if (!mayRemind) return none({ ...state, reminders: 1 });
      return state.unsaid
        ? tellOpen({ ...state, reminders: 1 }, say('reminder'))
        : moved({ ...state, reminders: 1 }, say('reminder'), ...askAgain(state));
    case 'template':
      return moved({ ...state, reminders: MOST_REMINDERS }, { kind: 'remind' });
    case 'expire':
      return endAt(state, 'expired', say('expired'));
  }
}
