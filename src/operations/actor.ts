/** The name of the operator who acts, as the history of an application keeps it (D34). */
import { isPlainText } from '../base/plain-text.ts';

const MAX_LENGTH = 100;

/** The rule of `readActor`, for error texts. */
export const ACTOR_RULE = `must be one line of 1 to ${MAX_LENGTH} characters`;

/** The trimmed name; null where the text breaks the rule. */
export function readActor(text: string): string | null {
  const name = text.trim();
  return name !== '' && [...name].length <= MAX_LENGTH && isPlainText(name) ? name : null;
}
