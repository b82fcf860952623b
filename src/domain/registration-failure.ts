/** How the registration of a batch can fail as a whole (D15, D37). */

/** The batch may or may not be stored and there was no time left to find out: no answer may be given. */
export class InDoubtError extends Error {
  override readonly name = 'InDoubtError';
}

/** Nothing is stored; the client should come again. */
export class UnavailableError extends Error {
  override readonly name: string = 'UnavailableError';
  /** After so many seconds it is worth a try. */
  readonly retryAfterSeconds: number = 1;
}

/** There is more to do than can be done in time, and it is this partner's turn to wait (D37). */
export class OverloadError extends UnavailableError {
  override readonly name = 'OverloadError';
  override readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number) {
    super('overload');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
