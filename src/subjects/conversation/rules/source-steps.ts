/**
 * What a conversation does if an income source needs something from the person (D44; docs/conversation.md, "An account
 * in the place of statements"). At the step `checking` it sends the link or asks for the code, and asks the source
 * again after the person's answer. Pure.
 */
import { ask, type Effect, say } from '../../../domain/conversation/effect.ts';
import type { SourceStepInput } from '../../../domain/conversation/input.ts';
import { SOURCE_STEPS, type State } from '../../../domain/conversation/state.ts';
import type { Meaning } from '../../../domain/conversation/words.ts';
import { handOverTelling, moved, type Next, none } from './moves.ts';
import { askAgain } from './questions.ts';

/** After so many source steps of one check an operator helps. */
const MOST_STEPS = 5;
/** A longer text is more than a code. */
const LONGEST_ANSWER = 60;
/** Four to twelve letters and digits with a digit among them. */
const CODE = /^(?=.*\d)[A-Za-z0-9]{4,12}$/;

/** The code for an income source in what the person wrote; null: there is none, or more than one. */
export function readSourceCode(text: string): string | null {
  if (text.length > LONGEST_ANSWER) return null;
  const plain = text.normalize('NFKC').trim();
  // A code in groups, such as "123 456".
  const joined = plain.replace(/[\s.-]+/g, '');
  if (/^\d{4,12}$/.test(joined)) return joined;
  const codes = plain.split(/[^\p{L}\p{Nd}]+/u).filter((word) => CODE.test(word));
  return codes.length === 1 ? codes[0]! : null;
}

/** Whether the source waits for the person. */
export function waitsForStep({ place, income }: State): boolean {
  return place === 'checking' && SOURCE_STEPS.some((step) => step === income);
}

/** The source needs something from the person. */
export function sourceAsks(before: State, input: SourceStepInput): Next {
  const isChecked = before.place === 'checking' && (before.income === 'asked' || waitsForStep(before));
  // If an operator speaks, the source is asked again when the conversation is given back.
  if (!isChecked || before.heldBy === 'operator') return none(before);
  // The same step may come again, because its link is old.
  const isNext = before.income === 'asked';
  if (isNext && before.sourceSteps >= MOST_STEPS) return handOverTelling(before, 'source');
  const state: State = {
    ...before,
    income: input.step,
    sourceSteps: before.sourceSteps + (isNext ? 1 : 0),
    askedTurn: null,
    unsaid: false,
  };
  const again: readonly Effect[] = isNext && before.sourceSteps > 0 ? [say('source_again')] : [];
  const question = ask(input.step, []);
  return moved(state, ...again, input.step === 'open_link' ? { ...question, link: input.link } : question);
}

/** The answer to what the source asks for; null: the text is no such answer. */
export function answerSource(state: State, meanings: ReadonlySet<Meaning>, text: string | null): Next | null {
  const isCode = state.income === 'enter_code';
  if (isCode && text !== null && readSourceCode(text) !== null) return askSource(state, 'answer_source');
  if (meanings.has('resend') || (!isCode && meanings.has('done'))) return askSource(state, 'check_income');
  if (meanings.has('no') || meanings.has('skip')) return handOverTelling(state, 'source');
  if (meanings.has('yes')) return moved(state, ...askAgain(state));
  return meanings.has('thanks') ? none(state) : null;
}

function askSource(state: State, work: 'check_income' | 'answer_source'): Next {
  return moved({ ...state, income: 'asked' }, { kind: 'work', work }, say('checking'));
}
