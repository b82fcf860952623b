/** In which pieces the bytes of a request go to Node's HTTP parser. */

export const LINE_END = Buffer.from('\r\n');
/** Most bytes of a body that go to the parser at once; as many wait in the request until somebody reads it. */
export const PIECE_BYTES = 16 * 1024;
/** Most chunks of a body, about, that go to the parser before everybody else had a turn: each costs as much as a read. */
const CHUNKS_AT_ONCE = 64;
const BLANK_LINE = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);

/** Finds the blank line that ends a head, in bytes that come in pieces. */
export class BlankLine {
  /** The last three bytes that were looked at, where a blank line may have begun. */
  #seam: Buffer = NOTHING;

  /** What was looked at ends in these bytes. */
  follow(bytes: Buffer): void {
    this.#seam = Buffer.from(bytes.subarray(1 - BLANK_LINE.length));
  }

  /** What comes begins anew. */
  forget(): void {
    this.#seam = NOTHING;
  }

  /** How many bytes there are to the end of the first blank line, or altogether. */
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

/** Where so many chunks end at the earliest, each of two lines; at most `PIECE_BYTES`. */
export function endOfChunks(bytes: Buffer): number {
  let end = 0;
  for (let lines = 0; lines < 2 * CHUNKS_AT_ONCE; lines += 1) {
    const line = bytes.indexOf(LINE_END, end);
    if (line < 0 || line >= PIECE_BYTES) return PIECE_BYTES;
    end = line + LINE_END.length;
  }
  return Math.min(end, PIECE_BYTES);
}
