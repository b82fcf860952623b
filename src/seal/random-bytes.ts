/** Random bytes for nonces and ids. */
import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4_096;
/** Asked of the system at once: a call of the system costs as much as ten calls of `randomBytes`. */
let pool = Buffer.alloc(0);
let offset = 0;

/** Bytes that were never returned before, and that never change. */
export function randomBytes(length: number): Buffer {
  if (offset + length > pool.length) {
    // Not filled again: what was returned of it may be kept.
    pool = randomFillSync(Buffer.allocUnsafeSlow(POOL_BYTES));
    offset = 0;
  }
  const bytes = pool.subarray(offset, offset + length);
  offset += length;
  return bytes;
}
