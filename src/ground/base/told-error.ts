/**
 * An error whose message is for the person who started the command. The fault is in a value, a file or the machine, not
 * in the program. So the message is shown alone, without a stack.
 */
export class ToldError extends Error {}

/** The message for a person; null: the error is not for people. */
export function toldBy(error: unknown): string | null {
  return error instanceof ToldError ? error.message : null;
}
