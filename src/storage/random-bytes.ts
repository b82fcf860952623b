/** Random bytes for nonces and ids. */
import { randomFillSync } from 'node:crypto';

/** The system is asked for so many at once: a call costs as much as ten of those that are served from here. */
const pool = Buffer.alloc(4_096);
let offset = pool.length;

/** Bytes that nobody got before. They are good until the next call: whoever keeps them copies them. */
export function randomBytes(length: number): Buffer {
  if (offset + length > pool.length) {
    randomFillSync(pool);
    offset = 0;
  }
  const bytes = pool.subarray(offset, offset + length);
  offset += length;
  return bytes;
}
