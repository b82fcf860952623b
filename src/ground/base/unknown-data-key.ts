import { UnavailableError } from './registration-failure.ts';

/**
 * Data is sealed with a key that this process does not have, as while the keys of several processes are changed. The
 * data is not damaged: it opens later, or for another process.
 */
export class UnknownDataKeyError extends UnavailableError {
  override readonly name = 'UnknownDataKeyError';

  constructor() {
    super('data is sealed with a data key that this process does not have in DATA_KEYS');
  }
}
