/**
 * An error whose message is for the person who started the command: a value, a file or the machine is wrong, and the
 * program is not. The message stands alone, without a stack.
 */
export class ToldError extends Error {}

/** What an error tells a person; null: it is not for people. */
export function toldBy(error: unknown): string | null {
  return error instanceof ToldError ? error.message : null;
}
