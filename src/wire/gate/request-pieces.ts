/**
 * Cuts the bytes of a request into the pieces that go to Node's HTTP parser (RFC 9112 for heads and chunks). Pure.
 * `connection.ts` says why.
 */

export const LINE_END = Buffer.from('\r\n');
/** The most bytes of a body that go to the parser at once, and that wait in the request until they are read. */
export const PIECE_BYTES = 16 * 1024;
/**
 * About the most chunks that go to the parser before the other connections get a turn. Each chunk costs as much as a
 * read.
 */
const CHUNKS_AT_ONCE = 64;
const BLANK_LINE = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);

/** Finds the blank line that ends a head, in bytes that come in pieces. */
export class BlankLine {
  /** The last three bytes of the previous piece, in which a blank line may have begun. */
  #seam: Buffer = NOTHING;

  /** Takes `bytes` as the end of the previous piece. */
  follow(bytes: Buffer): void {
    this.#seam = Buffer.from(bytes.subarray(1 - BLANK_LINE.length));
  }

  /** Forgets the previous piece. */
  forget(): void {
    this.#seam = NOTHING;
  }

  /** The number of bytes up to the end of the first blank line; all of them if there is none. */
  lengthTo(bytes: Buffer): number {
    const seam = this.#seam;
    this.#seam = NOTHING;
    if (seam.length > 0) {
      const start = Buffer.concat([seam, bytes.subarray(0, BLANK_LINE.length - 1)]).indexOf(BLANK_LINE);
      if (start >= 0) return start + BLANK_LINE.length - seam.length;
    }
    const start = bytes.indexOf(BLANK_LINE);
    if (start >= 0) return start + BLANK_LINE.length;
    this.#seam = Buffer.concat([seam, bytes.subarray(1 - BLANK_LINE.length)]).subarray(1 - BLANK_LINE.length);
    return bytes.length;
  }
}

/** The earliest end of `CHUNKS_AT_ONCE` chunks, two lines each; at most `PIECE_BYTES`. */
export function endOfChunks(bytes: Buffer): number {
  let end = 0;
  for (let lines = 0; lines < 2 * CHUNKS_AT_ONCE; lines += 1) {
    const line = bytes.indexOf(LINE_END, end);
    if (line < 0 || line >= PIECE_BYTES) return PIECE_BYTES;
    end = line + LINE_END.length;
  }
  return Math.min(end, PIECE_BYTES);
}
