/** How the registration of a batch can fail as a whole (D15, D37). */

/** The batch may or may not be stored and there was no time left to find out: no answer may be given. */
export class InDoubtError extends Error {
  override readonly name = 'InDoubtError';
}

/** Nothing is stored; the client should come again. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}
