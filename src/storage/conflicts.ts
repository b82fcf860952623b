/** What the database refuses only because two sessions got into each other's way. */

import { errorCode } from './error-code.ts';

/**
 * Serialization failure, deadlock, and a row that another session made at the same time: nothing of the transaction is
 * stored, and it may simply be done again.
 */
const CONFLICTS: readonly (string | undefined)[] = ['40001', '40P01', '23505'];
const MAX_TRIES = 4;

/** Does `work`, a transaction or a single statement, once more where it met a conflict; four times at most. */
export async function againAfterConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === MAX_TRIES || !CONFLICTS.includes(errorCode(error))) throw error;
    }
  }
}
