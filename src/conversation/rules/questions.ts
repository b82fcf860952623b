/** The question that a conversation asks at each of its places. Pure. */
import { ask, type Effect, say } from './effect.ts';
import type { Choice } from './input.ts';
import { isEnd } from './places.ts';
import type { State } from './state.ts';

/** Asks the open question, or says what is waited for. After the end it says how the conversation ended. */
export function askOpen(state: State): readonly Effect[] {
  const { place } = state;
  if (isEnd(place)) return [say(place)];
  switch (place) {
    case 'started':
      return [];
    case 'data_consent':
      return [ask('consent', ['yes', 'no'])];
    case 'earnings':
    case 'debts':
      return state.complete ? [say('still_reading')] : [ask(place, filesChoices(state))];
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

/** As `askOpen`, in short where the person has read the long form. */
export function askAgain(state: State): readonly Effect[] {
  const { place } = state;
  if (state.unsaid) return askOpen(state);
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

/** Whether the open question is being made: it comes by itself, and nothing that came before it is an answer. */
export function isBeingMade({ place, offerShown, shownContract }: State): boolean {
  return (place === 'summary' && !offerShown) || (place === 'contract' && shownContract === null);
}

/** The state in which the open question is told as if for the first time: until then no answer to it counts. */
export function asAsked(state: State): State {
  const { place, offerShown, shownContract } = state;
  return {
    ...state,
    unsaid: false,
    askedTurn: null,
    offerShown: place === 'summary' ? false : offerShown,
    shownContract: place === 'contract' ? null : shownContract,
  };
}

/** The buttons under a question for files. That to connect an account is shown where the flow has that step. */
export function filesChoices({ place, files }: State): Choice[] {
  if (place === 'debts') return files.debts === 0 ? ['skip'] : ['done'];
  return files.earnings === 0 ? ['connect'] : ['done'];
}

function waiting({ income, status }: State): readonly Effect[] {
  if (income === 'operator') return [say('person_will_write')];
  // A link expires, so the source is asked for a new one.
  if (income === 'open_link') return [{ kind: 'work', work: 'check_income' }];
  if (income === 'enter_code') return [ask('enter_code', [])];
  return [say(income !== 'asked' && status === 'in_review' ? 'in_review' : 'checking')];
}

function proofQuestion({ proof }: State) {
  if (proof === 'none') return ask('last_four', []);
  return proof === 'code_sent' || proof === 'code' ? ask('code_again', ['resend']) : say('sending_code');
}
