/**
 * The errors for a registration or a read that fails as a whole: in doubt, unavailable, overloaded (D15, D37). Pure.
 */

/** The batch may be stored or not, and no time is left to find out. So the client gets no answer. */
export class InDoubtError extends Error {
  override readonly name = 'InDoubtError';
}

/** Nothing is stored. The client should send the batch again. */
export class UnavailableError extends Error {
  override readonly name: string = 'UnavailableError';
  /** The seconds after which the client should try again. */
  readonly retryAfterSeconds: number = 1;
}

/** There is more work than can be done in time, and this partner has to wait (D37). */
export class OverloadError extends UnavailableError {
  override readonly name = 'OverloadError';
  override readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number) {
    super('overload');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** For `catch` of a read: throws an `UnavailableError` as it is, and any other failure as the cause of one. */
export function asUnavailable(message: string): (cause: unknown) => never {
  return (cause) => {
    throw cause instanceof UnavailableError ? cause : new UnavailableError(message, { cause });
  };
}

/**
 * Data is sealed with a key that this process does not have, as may happen while several processes get a new key
 * (docs/keys.md). The data is not damaged: this process opens it later, or another one does now.
 */
export class UnknownDataKeyError extends UnavailableError {
  override readonly name = 'UnknownDataKeyError';

  constructor() {
    super('data is sealed with a data key that this process does not have in DATA_KEYS');
  }
}
