/** Random bytes for nonces and ids. */
import { randomFillSync } from 'node:crypto';

/** Bytes that are asked of the system at once: a call of the system costs as much as ten calls of `randomBytes`. */
const pool = Buffer.alloc(4_096);
let offset = pool.length;

/** Bytes that were never returned before. They are valid until the next call: copy what you keep. */
export function randomBytes(length: number): Buffer {
  if (offset + length > pool.length) {
    randomFillSync(pool);
    offset = 0;
  }
  const bytes = pool.subarray(offset, offset + length);
  offset += length;
  return bytes;
}
