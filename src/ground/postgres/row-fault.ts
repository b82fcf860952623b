/**
 * Runs work on many rows so that a bad row does not stop the others, and tells which errors a row can cause. Pure but
 * for the given work. src/program/queue/README.md says who uses which way.
 */
import { errorCode } from '../base/describe-error.ts';
import { UnknownDataKeyError } from '../base/registration-failure.ts';

/**
 * SQLSTATE classes: impossible values, violated constraints, and damage on the disk. Not 23505: another session made
 * the same row at the same moment (`isConflict`).
 */
const OF_A_ROW = /^(22|23(?!505)|XX)[0-9A-Z]{3}$/;

/**
 * True for a failure that the content of a row can cause, also by the data key that sealed it; false for one that any
 * row meets, such as a lost connection.
 */
export function isRowFault(error: unknown): boolean {
  if (OF_A_ROW.test(errorCode(error) ?? '')) return true;
  if (error instanceof UnknownDataKeyError) return true;
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}

/**
 * Runs `work` on all items together, and on halves after a failure, so that only items that fail alone fail:
 * `onFault` is called with each. Without items nothing runs: with an empty array of ids PostgreSQL plans for every
 * partition. Throws an error that is not the fault of a row; some items may be done then. A
 * second run of `work` with the same items must be harmless.
 */
export async function eachApart<T>(
  items: readonly T[],
  work: (items: readonly T[]) => Promise<void>,
  onFault: (item: T, error: unknown) => void,
): Promise<void> {
  if (items.length === 0) return;
  try {
    await work(items);
  } catch (error) {
    if (!isRowFault(error)) throw error;
    if (items.length <= 1) {
      for (const item of items) onFault(item, error);
      return;
    }
    const middle = items.length >> 1;
    try {
      await eachApart(items.slice(0, middle), work, onFault);
      await eachApart(items.slice(middle), work, onFault);
    } catch {
      // In a transaction the first fault ends the transaction, so that fault is the one to report.
      throw error;
    }
  }
}
