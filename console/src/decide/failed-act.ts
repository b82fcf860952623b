/** Why a decision, or what else is done to an application, was refused: in words that say what to do. */
import type { ChangedReply } from '../../../src/subjects/desk/routes/proposal-forms.ts';
import type { Conflict } from '../../../src/subjects/desk/rules/conflict.ts';
import { AnswerError } from '../api/ask.ts';
import { conflictText, failureText } from '../api/failure.ts';
import type { Texts } from '../texts/texts.ts';

/** `time` writes a time in the language of the page. */
export function failedActText(error: unknown, texts: Texts, time: (iso: string) => string): string {
  const { codes, decide } = texts;
  if (error instanceof AnswerError && error.status === 412) {
    const { by, act, at } = (error.body ?? {}) as Partial<ChangedReply>;
    if (by === undefined || act === undefined || at === undefined) return decide.changed;
    return decide.changedBy(by.login, codes.acts[act as keyof typeof codes.acts] ?? act, time(at));
  }
  if (error instanceof AnswerError && error.status === 409) return actConflictText(error, texts, time);
  return failureText(error, texts, { 403: decide.forbidden });
}

/** Why a proposal that has ended is not undone, and how it ended; null: the refusal is another one. */
export function tooLateText(error: unknown, { decide, desk }: Texts): string | null {
  if (!(error instanceof AnswerError) || (error.status !== 409 && error.status !== 404)) return null;
  const { state } = (error.body ?? {}) as ConflictBody;
  const ended = desk.proposalStates[state as keyof typeof desk.proposalStates];
  return ended === undefined ? decide.tooLate : `${decide.tooLate} ${ended}.`;
}

interface ConflictBody {
  readonly code?: Conflict;
  readonly by?: { readonly login: string };
  readonly act?: string;
  readonly until?: string;
  readonly state?: string;
}

/** The body of a 409 has a code, and of some who stands in the way, until when, or how it ended. */
function actConflictText(error: AnswerError, texts: Texts, time: (iso: string) => string): string {
  const { decide, desk } = texts;
  const { code, by, act, until } = (error.body ?? {}) as ConflictBody;
  if (code === 'claimed' && by) return decide.claimedBy(by.login);
  if (code === 'proposed' && by)
    return decide.proposedBy(desk.proposed[act as keyof typeof desk.proposed] ?? act, by.login);
  if (code === 'withdrawable' && until) return decide.withdrawable(time(until));
  return conflictText(error, texts);
}
