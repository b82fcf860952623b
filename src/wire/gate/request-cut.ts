/** Where the bytes of a connection are cut, so that Node's HTTP parser gets one request at a time. */
import { BlankLine, endOfChunks, LINE_END, PIECE_BYTES } from './request-pieces.ts';

export class RequestCut {
  /** Follows the bytes that went to the parser. */
  readonly #blankLine = new BlankLine();
  /** The number of bytes that went to the parser in one piece with the head before them. */
  #afterHead = 0;
  /** These bytes included the beginning of the next head. */
  #isNextBegun = false;
  #bodyLeft = 0;

  /** The bytes of the body that are still to come, by its head; Infinity for chunks. */
  get bodyLeft(): number {
    return this.#bodyLeft;
  }

  /** The length of the next piece of a head. */
  ofHead(bytes: Buffer): number {
    const head = this.#blankLine.lengthTo(bytes);
    // Bytes without a line end hold neither another request nor a chunk. They go with the head: one piece costs less.
    const isAlone = bytes.indexOf(LINE_END, head) < 0;
    this.#afterHead = isAlone ? bytes.length - head : 0;
    if (this.#afterHead > 0) this.#blankLine.follow(bytes.subarray(head));
    return head + this.#afterHead;
  }

  /** Call this when a head is read, with the length of its body. */
  beginBody(length: number): void {
    this.#isNextBegun = this.#afterHead > length;
    this.#bodyLeft = Math.max(length - this.#afterHead, 0);
  }

  /** The length of the next piece of the body. */
  ofBody(bytes: Buffer): number {
    // A blank line ends the chunks. Within a chunk a blank line only cuts the piece in two.
    if (this.#bodyLeft === Number.POSITIVE_INFINITY) {
      return this.#blankLine.lengthTo(bytes.subarray(0, endOfChunks(bytes)));
    }
    const length = Math.min(bytes.length, this.#bodyLeft, PIECE_BYTES);
    this.#bodyLeft -= length;
    return length;
  }

  /** Call this when the request is over. Returns whether the next one has begun. */
  endRequest(): boolean {
    this.#bodyLeft = 0;
    if (!this.#isNextBegun) this.#blankLine.forget();
    return this.#isNextBegun;
  }
}
