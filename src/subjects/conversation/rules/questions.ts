/**
 * The question that a conversation asks at each of its places, and whether the person can have read it (D43;
 * docs/conversation.md, "Inputs, turns and replies"). Pure.
 */
import { ask, type Effect, say } from '../../../domain/conversation/effect.ts';
import type { Choice, QuestionRead } from '../../../domain/conversation/input.ts';
import { type End, isEnd } from '../../../domain/conversation/places.ts';
import type { State } from '../../../domain/conversation/state.ts';
import type { ToldReply } from '../../../domain/message/reply.ts';

/** Asks the open question, or says what the service waits for. After the end it says how the conversation ended. */
export function askOpen(state: State): readonly Effect[] {
  const { place } = state;
  if (isEnd(place)) return howItEnded(place, state);
  switch (place) {
    case 'started':
      return [];
    case 'data_consent':
      return state.outlook === 'asked' ? [{ kind: 'work', work: 'offer' }] : [ask('consent', ['yes', 'no'])];
    case 'earnings':
    case 'debts':
      if (isListAsked(state)) return [{ kind: 'debts', act: 'ask' }];
      return [
        ...rejectedFiles(state),
        state.complete ? say('still_reading') : ask(place, filesChoices(state)),
      ];
    case 'checking':
      return waiting(state);
    case 'summary':
      return [{ kind: 'work', work: 'offer' }];
    case 'contract':
      return [{ kind: 'work', work: 'make_contract' }];
    case 'code':
      return [proofQuestion(state)];
  }
}

/** The texts of these ends do not say how to reach an operator, so the hint follows. */
const WITH_HINT: readonly End[] = ['signed', 'declined', 'withdrawn'];

/** What a person hears who writes after the end: how the conversation ended, and how to reach an operator. */
function howItEnded(end: End, { lastDayToWithdraw: until }: State): readonly Effect[] {
  const told = say(end === 'signed' ? 'after_signed' : end);
  const right = end === 'signed' && until !== null ? [say('withdrawal_right', { until })] : [];
  return WITH_HINT.includes(end) ? [told, ...right, say('person_hint')] : [told];
}

/** Whether the open question is if the list of debts is right. */
function isListAsked({ place, debtList, complete }: State): boolean {
  return place === 'debts' && debtList === 'told' && !complete;
}

/** The most numbers that fit into a sentence. */
const MOST_NUMBERS = 12;

/** Which files an operator rejected. */
function rejectedFiles({ rejected }: State): readonly Effect[] {
  const all = [...rejected.earnings, ...rejected.debts].toSorted((a, b) => a - b);
  const numbers = all.slice(-MOST_NUMBERS).join(', ');
  return numbers === '' ? [] : [say('file_rejected', { numbers })];
}

/** As `askOpen`, but in short if the person has read the long form. */
export function askAgain(state: State): readonly Effect[] {
  const { place } = state;
  if (state.unsaid) return askOpen(state);
  if (isListAsked(state)) return [ask('debts_right_again', ['right', 'change'])];
  if ((place === 'earnings' || place === 'debts') && !state.complete) {
    return [ask(`${place}_again`, filesChoices(state))];
  }
  if (place === 'checking' && state.income === 'open_link') return [ask('open_link_again', [])];
  if (place === 'summary' && state.offerShown) return [ask('summary_again', ['go_on', 'decline'])];
  if (place === 'contract' && state.shownContract !== null) {
    return [ask('contract_again', ['accept', 'decline'])];
  }
  return askOpen(state);
}

/**
 * True while the offer or the contract is being prepared, or while it is found out what can be offered. Its question is
 * sent when it is ready; what came before answers nothing.
 */
export function isBeingMade({ place, outlook, offerShown, shownContract }: State): boolean {
  if (place === 'data_consent') return outlook === 'asked';
  return (place === 'summary' && !offerShown) || (place === 'contract' && shownContract === null);
}

/** The state in which the open question is told as if for the first time. Until then no answer to it counts. */
export function asAsked(state: State): State {
  const { place, nonce, offerShown, shownContract } = state;
  return {
    ...state,
    // The offer and the contract get a new number when they are made again.
    nonce: place === 'data_consent' ? nonce + 1 : nonce,
    unsaid: false,
    askedTurn: null,
    offerShown: place === 'summary' ? false : offerShown,
    shownContract: place === 'contract' ? null : shownContract,
  };
}

/** The buttons under a question for files. The button to connect an account is shown only if the flow has that step. */
export function filesChoices({ place, files }: State): Choice[] {
  if (place === 'debts') return files.debts === 0 ? ['skip'] : ['done'];
  return files.earnings === 0 ? ['connect'] : ['done'];
}

function waiting({ income, status }: State): readonly Effect[] {
  if (income === 'operator') return [say('person_will_write')];
  // A link expires, so the source is asked for a new link.
  if (income === 'open_link') return [{ kind: 'work', work: 'check_income' }];
  if (income === 'enter_code') return [ask('enter_code', [])];
  return [say(income !== 'asked' && status === 'in_review' ? 'in_review' : 'checking')];
}

function proofQuestion({ proof }: State) {
  if (proof === 'none') return ask('last_four', []);
  return proof === 'code_sent' || proof === 'code' ? ask('code_again', ['resend']) : say('sending_code');
}

/** A hash in a form that people can compare: groups of eight digits. */
export function inWords(sha256: string): string {
  return sha256.match(/.{1,8}/g)?.join(' ') ?? sha256;
}

// The second part: whether a person can have read the open question.

/**
 * Whether the person can have read the question of this reply (D43); `reply` null: there is none. A button under the
 * question itself proves it (`isProven`). A word, or the button of a reminder, can be older than the question, or come
 * while the question is on its way. These count only after the channel has told that the question arrived. `sentMs`:
 * when the person answered, by the channel's clock.
 */
export function questionRead(
  reply: ToldReply | null,
  isProven: boolean,
  sentMs: number | undefined,
): QuestionRead {
  if (reply === null || reply.fate === 'lost') return 'cannot';
  // The button is the proof, even if the service has not noted yet that the channel took the question.
  if (isProven) return 'can';
  if (reply.fate !== 'taken') return reply.fate === 'queued' ? 'coming' : 'may';
  // Both times are the channel's, in whole seconds. Within one second nobody knows what came first.
  const { arrivedAt } = reply;
  return arrivedAt !== null && sentMs !== undefined && arrivedAt.getTime() < sentMs ? 'can' : 'cannot';
}
