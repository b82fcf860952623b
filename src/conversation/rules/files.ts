/** What a conversation does with files, and at the steps that ask for them. Pure. */
import { ask, say } from './effect.ts';
import type { Flow } from './flow.ts';
import { moved, type Next, none, notUnderstood } from './moves.ts';
import { askAgain, filesChoices } from './questions.ts';
import { leaveFiles, passOn } from './results.ts';
import { type Purpose, type State, UNDERSTOOD } from './state.ts';
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

/** Whether a file is what the open question asks for. */
export function isAskedFile(state: State, media: string): boolean {
  return isReadable(media) && state.place === purposeAt(state);
}

function isReadable(media: string): boolean {
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
