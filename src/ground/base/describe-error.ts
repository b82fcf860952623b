/** The text of an error for people. `error-fields.ts` has the fields of an error for the log. */

/** The message of an error; for an `AggregateError` without a message, the messages of its parts. */
export function describeError(error: unknown): string {
  // Node tries every address of a host. Where all fail, only the parts of the error have messages.
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(describeError).join('; ');
  }
  return error instanceof Error ? error.message : String(error);
}
