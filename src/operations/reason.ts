/** The reason that an operator gives, as the history and the record of acts keep it (D34). */
import { isPlainText } from '../base/plain-text.ts';
import { OperatorError } from './operator-context.ts';

const MAX_LENGTH = 500;

/** The trimmed reason: 1 to 500 code points without control characters. Throws `OperatorError`. */
export function checkReason(reason: string): string {
  const why = reason.trim();
  if (why === '' || [...why].length > MAX_LENGTH || !isPlainText(why)) {
    throw new OperatorError(
      `the reason must be one line of 1 to ${MAX_LENGTH} characters: it goes into the history`,
    );
  }
  return why;
}
