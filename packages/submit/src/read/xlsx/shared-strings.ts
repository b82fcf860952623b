/**
 * The table of texts that an XLSX file keeps apart from its cells. It is packed, because there can be millions of
 * texts.
 */
import { readXml } from './xml.ts';

const PIECE_BYTES = 1024 * 1024;
/** The texts and their starts take at most 128 MiB together. */
const MAX_TEXTS = 8_000_000;
export const MAX_TEXT_BYTES = 96 * 1024 * 1024;

/** The file has more texts than the bounds allow. */
export class TooManyTexts extends Error {}

/** Ends a text; UTF-8 never has this byte. */
const END = 0xff;
const STARTS_A_BLOCK = 65_536;

/** Texts by number, as UTF-8 in pieces of a mebibyte. */
export class SharedStrings {
  readonly #pieces: Buffer[] = [];
  /** The start of each text, in blocks: the number of its piece and its offset there, as one number. */
  readonly #starts: Uint32Array[] = [];
  #count = 0;
  #used = PIECE_BYTES;

  /** Throws `TooManyTexts`. */
  add(text: string): void {
    const length = Buffer.byteLength(text) + 1;
    const full = this.#pieces.length * PIECE_BYTES > MAX_TEXT_BYTES;
    if (full || this.#count === MAX_TEXTS || length > PIECE_BYTES) throw new TooManyTexts();
    if (this.#used + length > PIECE_BYTES) {
      this.#pieces.push(Buffer.allocUnsafe(PIECE_BYTES));
      this.#used = 0;
    }
    const piece = this.#pieces.length - 1;
    const bytes = this.#pieces[piece]!;
    bytes.write(text, this.#used);
    bytes[this.#used + length - 1] = END;
    const slot = this.#count % STARTS_A_BLOCK;
    if (slot === 0) this.#starts.push(new Uint32Array(STARTS_A_BLOCK));
    this.#starts.at(-1)![slot] = piece * PIECE_BYTES + this.#used;
    this.#used += length;
    this.#count += 1;
  }

  /** The text with the number; undefined where there is none. */
  get(index: number): string | undefined {
    if (!(index < this.#count)) return undefined;
    const slot = index % STARTS_A_BLOCK;
    const start = this.#starts[(index - slot) / STARTS_A_BLOCK]![slot]!;
    const offset = start % PIECE_BYTES;
    const piece = this.#pieces[(start - offset) / PIECE_BYTES]!;
    return piece.toString('utf8', offset, piece.indexOf(END, offset));
  }
}

/** Reads `sharedStrings.xml`. Joins texts in runs and leaves out pronunciations. */
export async function readSharedStrings(bytes: AsyncIterable<Buffer> | null): Promise<SharedStrings> {
  const strings = new SharedStrings();
  if (bytes === null) return strings;
  let text = '';
  let inText = false;
  let inPronunciation = false;
  const reading = readXml(bytes, {
    open(name) {
      if (name === 'si') text = '';
      else if (name === 'rPh') inPronunciation = true;
      else if (name === 't') inText = !inPronunciation;
    },
    text(piece) {
      if (inText) text += piece;
      if (text.length > PIECE_BYTES) throw new TooManyTexts();
    },
    close(name) {
      if (name === 't') inText = false;
      else if (name === 'rPh') inPronunciation = false;
      else if (name === 'si') strings.add(text);
    },
  });
  for await (const _ of reading);
  return strings;
}
