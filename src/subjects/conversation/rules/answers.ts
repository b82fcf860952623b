/**
 * What a conversation does with what a person sends, at each step (D43; docs/conversation.md, "Inputs, turns and
 * replies"). Pure.
 */
import { ask, say } from '../../../domain/conversation/effect.ts';
import { type Flow, LANGUAGES } from '../../../domain/conversation/flow.ts';
import { CHOICES, type Choice, type PersonInput } from '../../../domain/conversation/input.ts';
import { type State, UNDERSTOOD } from '../../../domain/conversation/state.ts';
import { isBareNo, isTitle, type Meaning, meaningsOf } from '../../../domain/conversation/words.ts';
import { readCode, readLastFour, type SigningQuestion } from '../../../domain/evidence/answer.ts';
import { mayAskToStop } from '../../../domain/message/opt-out-doubts.ts';
import { answerDebts, answerFiles, isAskedFile, lateList, takeFile } from './files.ts';
import {
  endAt,
  goOn,
  handOver,
  handOverTelling,
  moved,
  type Next,
  none,
  notUnderstood,
  OFFERS_PERSON_AT,
  tellAgain,
} from './moves.ts';
import { askForCode, withdrawnInOwnWords } from './proofs.ts';
import { askAgain, askOpen, isBeingMade } from './questions.ts';
import { answerSource, waitsForStep } from './source-steps.ts';

/**
 * After so many taps of old buttons in a row an operator helps. After so many inputs while nothing is asked, the
 * service is silent.
 */
const MOST_REPEATS = 5;
const NO_MEANING: ReadonlySet<Meaning> = new Set();

/** The answer while the service speaks and the conversation is open. */
export function answerOf(flow: Flow, before: State, input: PersonInput): Next {
  const wasAskedToStop = before.stopAsked === 'open';
  const state = sinceAsked(before);
  const meanings = meaningsAt(flow, input);
  const asked = meantAnywhere(state, meanings) ?? askedBack(state, meanings, input);
  if (asked !== null) return asked;
  if (state.place === 'started') return goOn(state, 'data_consent');
  // "Yes" and "go on" in words answer whether messages should stop, and not the question before it.
  if (wasAskedToStop && meanings.size > 0 && !isBeingMade(state)) return toldOpen(state);
  if (input.kind === 'file' && isAskedFile(state, input.media)) return takeFile(flow, state, input.media);
  if (isBeingMade(state)) return none(state);
  if (input.kind === 'tap' && isOpenTap(state, input)) return tapped(flow, state, input);
  // The last four characters and the code count even if the last reply did not arrive, because they prove the person.
  const checked = input.kind === 'text' ? proofOf(state, input.body) : null;
  if (checked !== null) return checked;
  // The person has not read the open question, so no other text answers it.
  if (state.unsaid) return tellAgain(state);
  if (input.kind === 'file') return takeFile(flow, state, input.media);
  if (input.kind === 'tap' || input.kind === 'foreign_tap') return repeated(state);
  if (isGoOnInWords(flow, state, input)) return understoodAgain(state);
  const text = input.kind === 'text' ? input.body : null;
  const answered = answerAt(flow, state, { meanings, text, isProven: false });
  if (answered !== null) return answered;
  return meanings.has('later') ? comesLater(state) : notUnderstood(state);
}

/** While an operator speaks, files are still read. A withdrawal, a wrong number and the code still count. */
export function whileHeld(flow: Flow, state: State, input: PersonInput): Next {
  if (input.kind === 'file' && state.place !== 'started' && state.place !== 'data_consent') {
    return takeFile(flow, state, input.media);
  }
  const meanings = meaningsAt(flow, input);
  if (meanings.has('withdraw')) return withdrawn(state);
  const isOther = meanings.has('wrong_person') || (meanings.has('mistaken') && isUnknown(state));
  if (isOther) return ofAnother(state);
  const isCodeAwaited = state.proof === 'code_sent' && input.kind === 'text';
  return (isCodeAwaited ? proofOf(state, input.body) : null) ?? none(state);
}

/** After the end nothing begins again. The person can still withdraw a signature, and ask for an operator. */
export function atEnd(flow: Flow, before: State, input: PersonInput): Next {
  const state = sinceAsked(before);
  const meanings = meaningsAt(flow, input);
  if (state.place === 'signed' && meanings.has('withdraw')) return moved(state, { kind: 'withdraw' });
  if (meanings.has('wrong_person')) return ofAnother(state);
  const inOwnWords = input.kind === 'text' ? withdrawnInOwnWords(state, input.body) : null;
  if (inOwnWords !== null) return inOwnWords;
  if (state.heldBy === 'service') {
    if (meanings.has('person')) return handOverTelling(state, 'asked');
    const back = askedBack(state, meanings, input);
    if (back !== null) return back;
  }
  // A file or a voice message may be a withdrawal, and nobody reads it.
  const mayBeUnread = input.kind === 'file' && state.lastDayToWithdraw !== null;
  if (meanings.has('thanks') || (state.toldEnd && !mayBeUnread)) return none(state);
  return moved({ ...state, toldEnd: true }, ...askOpen(state));
}

/** The state after the person has sent something below the question whether messages should stop. */
function sinceAsked(state: State): State {
  return state.stopAsked === 'open' ? { ...state, stopAsked: 'asked' } : state;
}

/**
 * Asks once whether the person wants no more messages, if the words could be meant so and mean nothing else. Silence
 * changes nothing.
 */
function askedBack(state: State, meanings: ReadonlySet<Meaning>, input: PersonInput): Next | null {
  if (state.stopAsked !== 'no' || meanings.size > 0) return null;
  if (input.kind !== 'text' || !mayAskToStop(input.body)) return null;
  return moved({ ...state, stopAsked: 'open' }, ask('stop_or_go_on', ['stop', 'go_on']));
}

/** What a text means. The title of a button means what the button does. */
function meaningsAt({ buttons }: Flow, input: PersonInput): ReadonlySet<Meaning> {
  if (input.kind !== 'text') return NO_MEANING;
  const chosen = CHOICES.filter((choice) =>
    LANGUAGES.some((language) => isTitle(input.body, buttons[language][choice])),
  );
  return new Set([...meaningsOf(input.body), ...chosen.flatMap((choice) => MEANING_OF[choice] ?? [])]);
}

/** The answer to what counts at every step, whatever is asked; null: the text means nothing of this kind. */
function meantAnywhere(state: State, meanings: ReadonlySet<Meaning>): Next | null {
  if (meanings.has('withdraw')) return withdrawn(state);
  if (meanings.has('wrong_person') || (meanings.has('mistaken') && isUnknown(state))) return ofAnother(state);
  return meanings.has('person') ? handOverTelling(state, 'asked') : null;
}

/**
 * Whether it is unknown who the person is: until the consent nobody has answered as the applicant. Later "se
 * equivocaron" may be about the offer.
 */
function isUnknown({ place, outlook }: State): boolean {
  return place === 'started' || (place === 'data_consent' && outlook === 'none');
}

/**
 * The phone is not the applicant's. Its person hears nothing more about the application, in the chat or outside of it,
 * and an operator looks at the number.
 */
function ofAnother(state: State): Next {
  return handOver({ ...state, wrongPerson: true }, 'wrong_person', say('wrong_person'));
}

function withdrawn(state: State): Next {
  return endAt(state, 'withdrawn', { kind: 'evidence', act: 'withdrawal_asked' }, say('withdrawn'));
}

function tapped(flow: Flow, state: State, tap: Extract<PersonInput, { kind: 'tap' }>): Next {
  if (tap.choice === 'person') return handOverTelling(state, 'asked');
  // Below the offer to speak with a person, "go on" means to go on with the conversation, and does not answer the
  // question.
  const isOfQuestion = tap.choice !== 'go_on' || (state.place === 'summary' && tap.under !== 'help');
  const meaning = MEANING_OF[tap.choice];
  if (!isOfQuestion || meaning === undefined) return toldOpen(state);
  const answer = { meanings: new Set([meaning]), text: null, isProven: tap.under === 'question' };
  return answerAt(flow, state, answer) ?? understoodAgain(state);
}

/** Whether the person wrote the title of "go on" right after the offer to speak with a person. */
function isGoOnInWords({ buttons }: Flow, { misunderstood }: State, input: PersonInput): boolean {
  return (
    misunderstood >= OFFERS_PERSON_AT &&
    input.kind === 'text' &&
    LANGUAGES.some((language) => isTitle(input.body, buttons[language].go_on))
  );
}

/** "Not yet" refuses nothing. The question stays open with its buttons, and reminders come as usual. */
function comesLater(state: State): Next {
  return moved({ ...state, ...UNDERSTOOD }, say('no_hurry'), ...askAgain(state));
}

/** Asks the open question, in full if the person has not read it. */
function toldOpen(state: State): Next {
  return state.unsaid ? tellAgain(state) : understoodAgain(state);
}

function understoodAgain(state: State): Next {
  return moved({ ...state, ...UNDERSTOOD }, ...askAgain(state));
}

function isOpenTap({ nonce, place }: State, tap: Extract<PersonInput, { kind: 'tap' }>): boolean {
  return tap.nonce === nonce && tap.place === place;
}

const MEANING_OF: Partial<Readonly<Record<Choice, Meaning>>> = {
  yes: 'yes',
  no: 'no',
  done: 'done',
  skip: 'skip',
  connect: 'connect',
  accept: 'accept',
  decline: 'no',
  resend: 'resend',
  go_on: 'yes',
  right: 'yes',
  change: 'change',
  person: 'person',
};

/**
 * An old button never acts: the open question is asked again. If this happens too often in a row, an operator helps.
 */
function repeated(state: State): Next {
  const repeats = state.repeats + 1;
  if (repeats >= MOST_REPEATS) return handOverTelling(state, 'old_buttons');
  return moved({ ...state, repeats }, ...askAgain(state));
}

/** A text or a button, as an answer. `isProven`: the button stands under the whole question. */
interface Answer {
  readonly meanings: ReadonlySet<Meaning>;
  readonly text: string | null;
  readonly isProven: boolean;
}

/** What an answer does at a step; null: it is no answer there. */
function answerAt(flow: Flow, state: State, answer: Answer): Next | null {
  const heard = { ...state, ...UNDERSTOOD };
  const { meanings, text, isProven } = answer;
  switch (state.place) {
    case 'data_consent':
      if (meanings.has('yes') || meanings.has('accept')) return moved(state, { kind: 'look', isProven });
      return meanings.has('no') ? declined(heard, 'data_consent_refused') : null;
    case 'debts':
      return answerDebts(flow, heard, meanings, text) ?? answerFiles(flow, heard, 'debts', meanings);
    case 'earnings':
      return answerFiles(flow, heard, state.place, meanings);
    case 'checking':
      if (waitsForStep(state)) return answerSource(heard, meanings, text);
      return stillWaiting(state, meanings);
    case 'summary':
      if (meanings.has('yes') || meanings.has('accept')) return moved(state, { kind: 'look', isProven });
      return meanings.has('no') ? declined(heard, 'declined') : lateList(heard, text);
    case 'contract':
      return answerContract(heard, state, answer) ?? lateList(heard, text);
    case 'code':
      return answerProof(state, answer);
    default:
      return null;
  }
}

/** Nothing is asked now, so the person hears what the service waits for, a few times. */
function stillWaiting(state: State, meanings: ReadonlySet<Meaning>): Next {
  if (meanings.has('thanks') || state.repeats >= MOST_REPEATS) return none(state);
  const repeats = state.repeats + 1;
  // The last time, the person hears how to reach an operator.
  const hint = repeats === MOST_REPEATS ? [say('person_hint')] : [];
  return moved({ ...state, repeats }, ...askOpen(state), ...hint);
}

function declined(state: State, act: 'data_consent_refused' | 'declined'): Next {
  return endAt(state, 'declined', { kind: 'evidence', act }, say('declined'));
}

function answerContract(heard: State, state: State, { meanings, isProven }: Answer): Next | null {
  if (meanings.has('accept')) return moved(state, { kind: 'look', isProven });
  if (meanings.has('no')) return declined(heard, 'declined');
  return meanings.has('yes') ? moved(heard, ...askAgain(heard)) : null;
}

function answerProof(state: State, { meanings, text }: Answer): Next | null {
  const question = proofQuestionOf(state);
  if (question === null && !meanings.has('no')) return stillWaiting(state, meanings);
  const heard: State = { ...state, ...UNDERSTOOD };
  if (question === 'code' && meanings.has('resend')) return askForCode(heard);
  // A person who did not hear that an answer counted gives it again: the acceptance, or the last four characters.
  const isLastFour = text !== null && /\d/.test(text) && isAnswerTo('last_four', text);
  const isGivenAgain = meanings.has('accept') || meanings.has('yes') || (question === 'code' && isLastFour);
  if (isGivenAgain) return moved(heard, ...askAgain(heard));
  if (!meanings.has('no')) return null;
  // A bare "no" may mean that no code came. So the contract is asked about once more, and has to be accepted again.
  if (text !== null && isBareNo(text))
    return goOn({ ...heard, acceptedContract: null, proof: 'none' }, 'contract');
  return declined(heard, 'declined');
}

/** Which proof the step `code` waits for; null: the service is working. */
function proofQuestionOf({ proof }: State): SigningQuestion | null {
  return proof === 'none' ? 'last_four' : proof === 'code_sent' ? 'code' : null;
}

/** Has the text compared with the proof that the step `code` waits for; null: the text is no such answer. */
function proofOf(state: State, text: string): Next | null {
  const question = state.place === 'code' ? proofQuestionOf(state) : null;
  if (question === null || !isAnswerTo(question, text)) return null;
  return moved({ ...state, unsaid: false }, { kind: 'check', question });
}

/** Whether a text can be such a proof. No other text is compared, so no other text counts as a wrong answer. */
function isAnswerTo(question: SigningQuestion, text: string): boolean {
  return (question === 'code' ? readCode(text) : readLastFour(text)) !== null;
}
