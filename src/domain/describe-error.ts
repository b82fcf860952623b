/** The text that a person reads of an error. What a log line may say of an error is in `error-fields.ts`. */

/** The message of an error; the messages of all its parts where the error itself has none (`AggregateError`). */
export function describeError(error: unknown): string {
  // A connection that was tried at several addresses fails with an error that says nothing itself.
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(describeError).join('; ');
  }
  return error instanceof Error ? error.message : String(error);
}
