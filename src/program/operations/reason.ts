/** The reason that an operator gives, as the history and the record of acts keep it (D34). */
import { readableText } from '../../ground/base/plain-text.ts';
import { OperatorError } from './operator-context.ts';

const MAX_LENGTH = 500;

/** The trimmed reason: one line of 1 to 500 code points by the rule of `readableText`. Throws `OperatorError`. */
export function checkReason(reason: string): string {
  const why = readableText(reason, MAX_LENGTH);
  if (why !== null) return why;
  throw new OperatorError(
    `the reason must be one line of 1 to ${MAX_LENGTH} characters without invisible ones: it goes into the history`,
  );
}
