/** What a conversation does with files, and at the steps that ask for them. Pure. */
import { ask, say } from '../../../domain/conversation/effect.ts';
import type { Flow } from '../../../domain/conversation/flow.ts';
import type { DocumentDecided, DocumentRefusal, WorkInput } from '../../../domain/conversation/input.ts';
import { isEnd } from '../../../domain/conversation/places.ts';
import {
  at,
  NONE_REJECTED,
  type Purpose,
  type State,
  UNDERSTOOD,
} from '../../../domain/conversation/state.ts';
import { type DocumentReason, fateOf } from '../../../domain/document/document.ts';
import { goOn, handOverTelling, moved, type Next, none, notUnderstood, tellOpen } from './moves.ts';
import { askAgain, filesChoices } from './questions.ts';
import { leaveFiles, passOn } from './results.ts';
import type { Meaning } from './words.ts';

/** The answer at a step that asks for files; null: the meanings are none. */
export function answerFiles(
  flow: Flow,
  state: State,
  purpose: Purpose,
  meanings: ReadonlySet<Meaning>,
): Next | null {
  const has = state.files[purpose] > 0;
  const skips = purpose === 'debts' && (meanings.has('skip') || (!has && meanings.has('no')));
  if (skips) return passOn(flow, state, 'debts');
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
 * An operator decided on a file. At the steps of files the person hears it, and goes back to the statements of earnings
 * where none can be used any more. An income that a rejected file may have confirmed is not found any more: an operator
 * looks, and nobody signs before the income is checked again (D44).
 */
export function documentDecided(before: State, input: DocumentDecided): Next {
  const { purpose, isUsable, number, usable } = input;
  // Those that are still being read, and those that can be used: a file that was sent twice is one document.
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

/** The income is found, and the contract is not signed. */
function isIncomeFound({ place, income }: State): boolean {
  return !isEnd(place) && (income === 'confirmed' || income === 'adjusted');
}

/** The state once the person answers, who has read of the files that were rejected. */
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

/** Whether a person takes it for a file. Voice, videos and stickers are none. */
export function isReadable(media: string): boolean {
  return media === 'image' || media === 'document';
}

function purposeAt({ place }: State): Purpose {
  return place === 'debts' ? 'debts' : 'earnings';
}

/** A file that a person sent. A kind that cannot be read is an answer that was not understood. */
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
  // The refused ones count, because each was fetched and read.
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

/** What the person is told of a file that is not used; of the others: it could not be fetched, send it again. */
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

/** What the person is told of a document with this reason. */
export function shownFate(reason: DocumentReason): Extract<WorkInput, { kind: 'document' }>['fate'] {
  const fate = fateOf(reason);
  if (fate === 'refused') return { refused: REFUSALS[reason] ?? 'gone' };
  if (reason === 'another_holder') return 'other_person';
  return reason === 'reading_limit' ? 'by_person' : fate;
}

// The number that a person knows a file by. Pure.

/** A document by its id, and the indexes of the messages that it came by. */
interface Sent {
  readonly id: string;
  readonly messages: readonly string[];
}

/**
 * The number of a document's file among all files that the person sent, from 1 on (D43): those that became no document
 * count too. A file that was sent several times has the number of the first time. `documents`: all, the oldest first.
 * `files`: the indexes of the messages with files, in the order of sending. The files of messages that are not stored
 * any more came before these.
 */
export function fileNumber(id: string, documents: readonly Sent[], files: readonly string[]): number {
  const stored = new Set(files);
  const before = documents.filter(({ messages }) => !messages.some((index) => stored.has(index)));
  const place = before.findIndex((one) => one.id === id);
  if (place >= 0) return place + 1;
  const own = new Set(documents.find((one) => one.id === id)?.messages);
  return before.length + files.findIndex((index) => own.has(index)) + 1;
}
