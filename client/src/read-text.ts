/** Reads the body of an answer, within a bound: the server may be anybody, and its answer may have no end. */
import type { FetchResponse } from './options.ts';

/** More than ten times the largest answer of the service: the answer to a batch, or a page of 500 events. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

const FIRST_BYTES = 16 * 1024;
/** A body may come in this many pieces; more are allowed where they have at least `LEAST_PIECE_BYTES` on average. */
const FREE_PIECES = 4_096;
const LEAST_PIECE_BYTES = 32;

/**
 * The text of the body; null where the body has more than `MAX_ANSWER_BYTES`, unpacked, or comes in too many pieces:
 * each one costs the process time. The rest is not read then, and the caller ends the request.
 */
export async function readText(body: FetchResponse['body']): Promise<string | null> {
  if (body === null) return '';
  const reader = body.getReader();
  // One array for all pieces, because a piece may be a single byte, and each piece takes memory of its own.
  let bytes = new Uint8Array(FIRST_BYTES);
  let length = 0;
  for (let pieces = 1; ; pieces += 1) {
    const { done, value } = await reader.read();
    if (done) return new TextDecoder().decode(bytes.subarray(0, length));
    if (value === undefined) continue;
    const longer = length + value.length;
    if (longer > MAX_ANSWER_BYTES || pieces > FREE_PIECES + longer / LEAST_PIECE_BYTES) return null;
    if (longer > bytes.length) {
      const larger = new Uint8Array(Math.min(2 * longer, MAX_ANSWER_BYTES));
      larger.set(bytes.subarray(0, length));
      bytes = larger;
    }
    bytes.set(value, length);
    length = longer;
  }
}
