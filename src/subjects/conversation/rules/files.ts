/**
 * What a conversation does with files and with the list of debts, at the steps that ask for them and elsewhere; and the
 * number that a person knows a file by (D43, D52; docs/conversation.md, "Documents", "The debts"). Pure.
 */
import { ask, say } from '../../../domain/conversation/effect.ts';
import type { Flow } from '../../../domain/conversation/flow.ts';
import type {
  DebtsInput,
  DocumentDecided,
  DocumentRefusal,
  WorkInput,
} from '../../../domain/conversation/input.ts';
import { isEnd } from '../../../domain/conversation/places.ts';
import {
  at,
  NONE_REJECTED,
  type Purpose,
  type State,
  UNDERSTOOD,
} from '../../../domain/conversation/state.ts';
import type { Meaning } from '../../../domain/conversation/words.ts';
import { type DocumentReason, fateOf } from '../../../domain/document/document.ts';
import { isListOfDebts } from '../../../domain/loan/read-debts.ts';
import { goOn, handOverTelling, moved, type Next, none, notUnderstood, tellOpen } from './moves.ts';
import { askAgain, filesChoices } from './questions.ts';
import { goOnAlone, leaveFiles, passOn } from './results.ts';

/** The answer at a step that asks for files; null: the text answers nothing there. */
export function answerFiles(
  flow: Flow,
  state: State,
  purpose: Purpose,
  meanings: ReadonlySet<Meaning>,
): Next | null {
  const has = state.files[purpose] > 0;
  const skips = purpose === 'debts' && (meanings.has('skip') || (!has && meanings.has('no')));
  if (skips) return skipDebts(flow, state);
  const connects = purpose === 'earnings' && !has && flow.steps.connect;
  if (connects && (meanings.has('connect') || meanings.has('skip'))) return passOn(flow, state, 'earnings');
  if (meanings.has('done') || (has && meanings.has('no'))) {
    if (state.reading === 0) return leaveFiles(flow, state);
    return moved({ ...state, complete: true }, say('still_reading'));
  }
  if (meanings.has('yes')) return moved(state, ...askAgain(state));
  return meanings.has('thanks') ? none(state) : null;
}

/**
 * An operator has decided about a file. At the steps for files the person hears it, and goes back to the statements of
 * earnings if none of them can be used any more. If the income was already found, a rejected file may have been part of
 * it. Then an operator looks, and nobody signs before the income is checked again (D44).
 */
export function documentDecided(before: State, input: DocumentDecided): Next {
  const { purpose, isUsable, number, usable } = input;
  // The files that are still being read, and the usable ones. A file that was sent twice is one document.
  const files = Math.max(0, before.files[purpose] - before.usable[purpose]) + usable[purpose];
  const others = before.rejected[purpose].filter((one) => one !== number);
  const state: State = {
    ...before,
    usable,
    files: { ...before.files, [purpose]: files },
    rejected: { ...before.rejected, [purpose]: isUsable ? others : [...others, number] },
  };
  if (purpose === 'earnings' && !isUsable && isIncomeFound(state)) {
    const unchecked: State = { ...at(state, 'checking'), income: 'operator' };
    return state.heldBy === 'operator' ? none(unchecked) : handOverTelling(unchecked, 'income');
  }
  const isAsking = state.heldBy === 'service' && asksForFiles(state);
  if (!isAsking) return none(state);
  if (isUsable) return moved(state, say('file_accepted', { numbers: `${number}` }), ...askAgain(state));
  const isBack = state.place === 'debts' && purpose === 'earnings' && usable.earnings === 0;
  return isBack ? goOn(state, 'earnings') : tellOpen(state);
}

/** Whether the income is found and the conversation has not ended. */
function isIncomeFound({ place, income }: State): boolean {
  return !isEnd(place) && (income === 'confirmed' || income === 'adjusted');
}

/** The state after the person has answered, and so has read which files were rejected. */
export function heardOfFiles(state: State): State {
  return asksForFiles(state) && !state.unsaid ? { ...state, rejected: NONE_REJECTED } : state;
}

function asksForFiles({ place }: State): boolean {
  return place === 'earnings' || place === 'debts';
}

/** Whether a file is what the open question asks for. */
export function isAskedFile(state: State, media: string): boolean {
  return isReadable(media) && state.place === purposeAt(state);
}

/** Whether people think of it as a file. Voice messages, videos and stickers do not count. */
export function isReadable(media: string): boolean {
  return media === 'image' || media === 'document';
}

function purposeAt({ place }: State): Purpose {
  return place === 'debts' ? 'debts' : 'earnings';
}

/** Takes a file that a person sent. A kind that cannot be read counts as an answer that was not understood. */
export function takeFile(flow: Flow, state: State, media: string): Next {
  if (!isReadable(media)) {
    const after = notUnderstood(state);
    return state.heldBy === 'operator'
      ? none(state)
      : moved(after.state, say('media_not_read'), ...after.effects);
  }
  const purpose = purposeAt(state);
  const isAsked = state.place === purpose || (state.heldBy === 'operator' && state.place === 'checking');
  if (!isAsked) return moved(state, say('file_not_needed'), ...askAgain(state));
  // Refused files count too, because each was fetched and read.
  if (Math.max(state.files[purpose], state.refused) >= flow.limits.files)
    return moved(state, say('too_many_files'));
  const taken: State = {
    ...state,
    ...UNDERSTOOD,
    unsaid: false,
    files: { ...state.files, [purpose]: state.files[purpose] + 1 },
    reading: state.reading + 1,
  };
  return moved(
    taken,
    { kind: 'work', work: 'read_document', purpose },
    ask('files_received', filesChoices(taken)),
  );
}

/**
 * What the person is told about a file that is not used. The other reasons mean that it could not be fetched and has to
 * be sent again.
 */
const REFUSALS: Partial<Readonly<Record<DocumentReason, DocumentRefusal>>> = {
  too_large: 'too_large',
  too_many_pixels: 'too_large',
  unsupported_type: 'wrong_type',
  type_mismatch: 'wrong_type',
  polyglot: 'wrong_type',
  encrypted: 'locked',
  infected: 'infected',
  empty: 'unreadable',
  damaged: 'unreadable',
  rejected_by_operator: 'unreadable',
  too_many: 'too_many',
};

/** What the person is told about a document with this reason. */
export function shownFate(reason: DocumentReason): Extract<WorkInput, { kind: 'document' }>['fate'] {
  const fate = fateOf(reason);
  if (fate === 'refused') return { refused: REFUSALS[reason] ?? 'gone' };
  if (reason === 'another_holder') return 'other_person';
  return reason === 'reading_limit' ? 'by_person' : fate;
}

// The second part: the list of debts that a person tells. The state has no text and no amount of it (D52).

/** An operator helps a person who has told so many lists. */
const MOST_LISTS = 10;

/** The answer about the list at the step `debts`; null: the text is about something else, such as files. */
export function answerDebts(
  flow: Flow,
  state: State,
  meanings: ReadonlySet<Meaning>,
  text: string | null,
): Next | null {
  if (text !== null && isListOfDebts(text)) {
    if (state.debtLists >= MOST_LISTS) return handOverTelling(state, 'debts');
    return moved({ ...state, debtLists: state.debtLists + 1 }, { kind: 'debts', act: 'tell' });
  }
  if (state.debtList !== 'told') return null;
  if (meanings.has('change') || meanings.has('no'))
    return goOn({ ...state, debtList: 'none' }, 'debts', say('debts_change'));
  if (meanings.has('skip')) return skipDebts(flow, state);
  if (!meanings.has('yes') && !meanings.has('accept') && !meanings.has('done')) return null;
  const confirmed: State = { ...state, debtList: 'confirmed' };
  if (state.reading === 0) return passOn(flow, confirmed, 'debts');
  return moved({ ...confirmed, complete: true }, say('still_reading'));
}

/** The person names no debts, so what they told before does not count any more. */
export function skipDebts(flow: Flow, state: State): Next {
  return passOn(flow, { ...state, debtList: 'none' }, 'debts', { kind: 'debts', act: 'forget' });
}

/** A list that comes after the offer is not taken: the person hears that a person changes it. */
export function lateList(state: State, text: string | null): Next | null {
  if (text === null || !isListOfDebts(text)) return null;
  return moved(state, say('debts_by_person'), ...askAgain(state));
}

const AGAIN = {
  unclear: 'debts_unclear',
  currency: 'debts_other_currency',
  twice: 'debts_twice',
} as const;

/** The list was stored, read, or not taken. */
export function debtsKnown(flow: Flow, state: State, input: DebtsInput): Next {
  if (state.place !== 'debts') return none(state);
  // A confirmed list that a document adds to is no longer confirmed.
  if (state.heldBy === 'operator')
    return none(input.result === 'told' ? { ...state, debtList: 'none' } : state);
  switch (input.result) {
    case 'told':
      return moved(
        {
          ...state,
          debtList: 'told',
          complete: state.complete && state.reading > 0,
          nonce: state.nonce + 1,
          askedTurn: null,
          unsaid: false,
        },
        ask('debts_right', ['right', 'change'], { debts: input.debts, sum: input.sum }),
      );
    case 'none':
      // Either the documents had no debts, or an operator has removed all of them.
      return state.debtList === 'told'
        ? goOn({ ...state, debtList: 'none' }, 'debts')
        : passOn(flow, state, 'debts');
    case 'again':
      return moved(state, say(AGAIN[input.fault], { numbers: input.numbers }), ...askAgain(state));
    case 'too_many':
      return moved(state, say('debts_too_many'), ...askAgain(state));
    case 'same':
      return goOnAlone(flow, state);
    case 'fixed':
    case 'refused':
      return handOverTelling(state, 'debts');
  }
}

// The third part: the number that a person knows a file by.

/** A document's id, and the indexes of the messages with its file. */
interface Sent {
  readonly id: string;
  readonly messages: readonly string[];
}

/**
 * The number of a document's file among all files that the person sent, from 1 on (D43). Files that became no document
 * count too. A file that was sent several times has the number of the first time. `documents`: all, the oldest first.
 * `files`: the indexes of the messages with files, in the order of sending. Files whose messages are not stored any
 * more came before these.
 */
export function fileNumber(id: string, documents: readonly Sent[], files: readonly string[]): number {
  const stored = new Set(files);
  const before = documents.filter(({ messages }) => !messages.some((index) => stored.has(index)));
  const place = before.findIndex((one) => one.id === id);
  if (place >= 0) return place + 1;
  const own = new Set(documents.find((one) => one.id === id)?.messages);
  return before.length + files.findIndex((index) => own.has(index)) + 1;
}
