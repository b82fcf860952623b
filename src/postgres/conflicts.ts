/** Errors that a statement gets only because two sessions got in each other's way. */

import { errorCode } from '../base/error-code.ts';

/**
 * Serialization failure, deadlock, and a row that another session made at the same time: nothing of the transaction
 * is stored, and it can simply be repeated.
 */
const CONFLICTS: readonly (string | undefined)[] = ['40001', '40P01', '23505'];
/** Most tries of a transaction after conflicts. */
export const CONFLICT_TRIES = 4;

/** Whether an error is such a conflict. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.includes(errorCode(error));
}

/** Runs `work`, a transaction or a single statement, and repeats it after a conflict; four times at most. */
export async function againAfterConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === CONFLICT_TRIES || !isConflict(error)) throw error;
    }
  }
}
