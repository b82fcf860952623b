/** What a failure means, in the language of the page. */
import type { Conflict } from '../../../src/subjects/desk/rules/conflict.ts';
import type { Texts } from '../texts/texts.ts';
import { NotSignedIn } from './act.ts';
import { AnswerError } from './ask.ts';

/**
 * `known` are the texts of statuses that mean something of their own where the request was made; `tooMany` is that of 429,
 * where what is counted are no tries.
 */
export function failureText(
  error: unknown,
  texts: Texts,
  known: Readonly<Record<number, string>> = {},
  tooMany?: (minutes: number) => string,
): string {
  const { frame } = texts;
  if (error instanceof NotSignedIn) return frame.notProved;
  if (!(error instanceof AnswerError)) return frame.failed;
  const { status } = error;
  if (known[status] !== undefined) return known[status];
  if (status === 409) return conflictText(error, texts);
  const said = error.body?.error;
  if (status === 400 && typeof said === 'string') return frame.refused(said);
  if (status === 0) return frame.noAnswer;
  if (status === 401) return frame.ended;
  if (status === 403) return frame.forbidden;
  if (status === 429) return tooMany?.(minutesOf(error)) ?? throttledText(error, texts);
  return frame.failed;
}

const minutesOf = ({ retryAfterSeconds }: AnswerError) => Math.ceil((retryAfterSeconds ?? 60) / 60);

/** Of one that is over at once, another password was being checked. */
function throttledText(error: AnswerError, { frame }: Texts): string {
  const { retryAfterSeconds } = error;
  const isOverAtOnce = retryAfterSeconds !== null && retryAfterSeconds <= 1;
  return isOverAtOnce ? frame.busy : frame.throttled(minutesOf(error));
}

/** What the code of a 409 means. A service that is newer than the page may have another one. */
export function conflictText(error: AnswerError, { desk }: Texts): string {
  return desk.conflicts[error.body?.code as Conflict] ?? desk.conflicts.illegal;
}
