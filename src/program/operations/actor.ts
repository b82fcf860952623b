/** Who acts, as the history of an application keeps it (D34, D48). */
import { readableText } from '../../ground/base/plain-text.ts';

const MAX_LENGTH = 100;

/** The rule of `readActor`, for error texts. */
export const ACTOR_RULE = `must be one line of 1 to ${MAX_LENGTH} characters without invisible ones, and no "operator" with a number`;

/** The trimmed name of an operator at the command line; null where the text breaks the rule. */
export function readActor(text: string): string | null {
  const name = readableText(text, MAX_LENGTH);
  return name === null || accountOf(name) !== null ? null : name;
}

/** How the histories name an operator with an account. */
const ACCOUNT = /^operator (\d{1,9})$/;

/** The id of the account that an actor of a history is; null: it is none. */
export function accountOf(actor: string): number | null {
  const id = ACCOUNT.exec(actor)?.[1];
  return id === undefined ? null : Number(id);
}
