/** Keeps what one row does wrong from the other rows. */

import { errorCode } from './error-code.ts';

/** SQLSTATE classes: what a value cannot be, what a constraint refuses, and what is damaged on the disk. */
const OF_A_ROW = /^(22|23|XX)[0-9A-Z]{3}$/;

/** True for a failure that what a row holds can cause; false for one that meets any row, such as a lost connection. */
export function isRowFault(error: unknown): boolean {
  if (OF_A_ROW.test(errorCode(error) ?? '')) return true;
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}

/**
 * Runs `work` on all items together; where one of them makes it fail, on halves, so that only those fail that fail
 * alone: `onFault` hears of each. Throws what is no fault of a row; some items may be done then. `work` must bear to
 * be run again with items that it was run with.
 */
export async function eachApart<T>(
  items: readonly T[],
  work: (items: readonly T[]) => Promise<void>,
  onFault: (item: T, error: unknown) => void,
): Promise<void> {
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
      // Within a transaction the first fault ends it, and that fault is what there is to say.
      throw error;
    }
  }
}
