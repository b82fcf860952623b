/** What a conversation does with what a person sends, at each step. Pure. */
import { type Effect, say } from './effect.ts';
import { answerFiles, takeFile } from './files.ts';
import type { Flow } from './flow.ts';
import type { Choice, PersonInput } from './input.ts';
import { endAt, goOn, handOverTelling, moved, type Next, none, notUnderstood } from './moves.ts';
import { askAgain, askOpen } from './questions.ts';
import { passOn } from './results.ts';
import { type State, UNDERSTOOD } from './state.ts';
import { looksLikeAnswer, type Meaning, meaningsOf } from './words.ts';

/** Taps of old buttons in a row, or wrong answers, from which on a person has to help. */
const MOST_REPEATS = 5;
const NO_MEANING: ReadonlySet<Meaning> = new Set();

/** The answer while the service speaks and the conversation goes on. */
export function answerOf(flow: Flow, state: State, input: PersonInput): Next {
  if (input.kind === 'file') return takeFile(flow, state, input.media);
  if (state.place === 'started') return beginBy(state, input);
  if (input.kind === 'tap') return tapped(flow, state, input);
  if (input.kind === 'foreign_tap') return repeated(state);
  const meanings = input.kind === 'text' ? meaningsOf(input.body) : NO_MEANING;
  if (meanings.has('withdraw')) return withdrawn(state);
  if (meanings.has('person')) return handOverTelling(state, 'asked');
  // The person has not read the open question, so the text is no answer to it.
  if (state.unsaid) return moved({ ...state, unsaid: false }, ...askOpen(state));
  const text = input.kind === 'text' ? input.body : null;
  return answerAt(flow, state, meanings, text) ?? notUnderstood(state);
}

/** While an operator speaks, files are still read, and a withdrawal still counts. */
export function whileHeld(flow: Flow, state: State, input: PersonInput): Next {
  if (input.kind === 'file' && state.place !== 'started' && state.place !== 'data_consent') {
    return takeFile(flow, state, input.media);
  }
  if (input.kind === 'text' && meaningsOf(input.body).has('withdraw')) return withdrawn(state);
  return none(state);
}

/** After the end nothing begins again. A signature can be withdrawn, and a person can be asked for. */
export function atEnd(state: State, input: PersonInput): Next {
  const meanings = input.kind === 'text' ? meaningsOf(input.body) : NO_MEANING;
  if (state.place === 'signed' && meanings.has('withdraw')) return moved(state, { kind: 'withdraw' });
  if (meanings.has('person') && state.heldBy === 'service') return handOverTelling(state, 'asked');
  if (meanings.has('thanks') || state.toldEnd) return none(state);
  return moved({ ...state, toldEnd: true }, ...askOpen(state));
}

function beginBy(state: State, input: PersonInput): Next {
  const meanings = input.kind === 'text' ? meaningsOf(input.body) : NO_MEANING;
  if (meanings.has('withdraw')) return withdrawn(state);
  return meanings.has('person') ? handOverTelling(state, 'asked') : goOn(state, 'data_consent');
}

function withdrawn(state: State): Next {
  return endAt(state, 'withdrawn', { kind: 'evidence', act: 'withdrawal_asked' }, say('withdrawn'));
}

function tapped(flow: Flow, state: State, tap: Extract<PersonInput, { kind: 'tap' }>): Next {
  if (tap.nonce !== state.nonce || tap.place !== state.place) return repeated(state);
  if (tap.choice === 'person') return handOverTelling(state, 'asked');
  const meaning = MEANING_OF[tap.choice];
  const answer = meaning === undefined ? null : answerAt(flow, state, new Set([meaning]), null);
  return answer ?? moved({ ...state, ...UNDERSTOOD }, ...askAgain(state));
}

const MEANING_OF: Partial<Readonly<Record<Choice, Meaning>>> = {
  yes: 'yes',
  no: 'no',
  done: 'done',
  skip: 'skip',
  accept: 'accept',
  decline: 'no',
  resend: 'resend',
  go_on: 'yes',
};

/** An old button asks again and never acts. Where that goes on, an operator helps. */
function repeated(state: State): Next {
  const repeats = state.repeats + 1;
  if (repeats >= MOST_REPEATS) return handOverTelling(state, 'old_buttons');
  return moved({ ...state, repeats }, ...askAgain(state));
}

/** The answer of a text or a button at a step; null: it is none. */
function answerAt(
  flow: Flow,
  state: State,
  meanings: ReadonlySet<Meaning>,
  text: string | null,
): Next | null {
  const heard = { ...state, ...UNDERSTOOD };
  switch (state.place) {
    case 'data_consent':
      if (meanings.has('yes') || meanings.has('accept')) {
        const given: Effect = { kind: 'evidence', act: 'data_consent_given' };
        return flow.steps.earnings ? goOn(heard, 'earnings', given) : passOn(flow, heard, 'earnings', given);
      }
      return meanings.has('no') ? declined(heard, 'data_consent_refused') : null;
    case 'earnings':
    case 'debts':
      return answerFiles(flow, heard, state.place, meanings);
    case 'checking':
      // Nothing is asked: the person hears what is waited for, a few times.
      if (meanings.has('thanks') || state.repeats >= MOST_REPEATS) return none(state);
      return moved({ ...state, repeats: state.repeats + 1 }, ...askOpen(state));
    case 'summary':
      if (!state.offerShown) return none(heard);
      if (meanings.has('yes') || meanings.has('accept')) {
        return goOn(heard, 'contract', { kind: 'evidence', act: 'offer_accepted' });
      }
      return meanings.has('no') ? declined(heard, 'declined') : null;
    case 'contract':
      return answerContract(heard, meanings);
    case 'code':
      return answerProof(heard, state, meanings, text);
    default:
      return null;
  }
}

function declined(state: State, act: 'data_consent_refused' | 'declined'): Next {
  return endAt(state, 'declined', { kind: 'evidence', act }, say('declined'));
}

function answerContract(state: State, meanings: ReadonlySet<Meaning>): Next | null {
  if (state.shownContract === null) return none(state);
  if (meanings.has('accept')) {
    const accepted: State = { ...state, acceptedContract: state.shownContract, proof: 'none' };
    return goOn(accepted, 'code', { kind: 'evidence', act: 'contract_accepted' });
  }
  if (meanings.has('no')) return declined(state, 'declined');
  return meanings.has('yes') ? moved(state, ...askAgain(state)) : null;
}

function answerProof(
  heard: State,
  state: State,
  meanings: ReadonlySet<Meaning>,
  text: string | null,
): Next | null {
  const question = state.proof === 'none' ? 'last_four' : state.proof === 'code_sent' ? 'code' : null;
  if (question === null) return none(state);
  if (text !== null && looksLikeAnswer(question, text)) return moved(state, { kind: 'check', question });
  if (question === 'code' && meanings.has('resend')) {
    return moved({ ...heard, proof: 'code_asked' }, { kind: 'work', work: 'send_code' });
  }
  return null;
}
