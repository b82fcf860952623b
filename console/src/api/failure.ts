/** What a failure means, in the language of the page. */
import type { Texts } from '../texts/texts.ts';
import { NotSignedIn } from './act.ts';
import { AnswerError } from './ask.ts';

/** `known` are the texts of statuses that mean something of their own where the request was made. */
export function failureText(
  error: unknown,
  { frame }: Texts,
  known: Readonly<Record<number, string>> = {},
): string {
  if (error instanceof NotSignedIn) return frame.notProved;
  if (!(error instanceof AnswerError)) return frame.failed;
  const { status } = error;
  if (known[status] !== undefined) return known[status];
  if (status === 0) return frame.noAnswer;
  if (status === 401) return frame.ended;
  if (status === 403) return frame.forbidden;
  if (status === 429) return frame.throttled;
  return frame.failed;
}
