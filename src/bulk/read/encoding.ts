/** Finds the encoding of a text file from all of its bytes: a guess from its beginning could be wrong. */
import { isAscii, isUtf8 } from 'node:buffer';
import { BulkError } from './bulk-error.ts';

export const ENCODINGS = ['UTF-8', 'UTF-16LE', 'UTF-16BE', 'Windows-1252'] as const;
export type Encoding = (typeof ENCODINGS)[number];

const LF = 0x0a;
const CONTINUATION = 0b10;

/**
 * The encoding that the first bytes show: by a byte order mark, or by the zeros that UTF-16 puts beside Latin letters.
 */
export function encodingOfHead(head: Buffer): Encoding | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'UTF-16LE';
  if (head[0] === 0xfe && head[1] === 0xff) return 'UTF-16BE';
  if (!head.includes(0)) return null;
  const zeros = [...head.subarray(0, 200).entries()].filter(([, byte]) => byte === 0);
  const inOdd = zeros.some(([index]) => index % 2 === 1);
  const inEven = zeros.some(([index]) => index % 2 === 0);
  if (inOdd && !inEven) return 'UTF-16LE';
  if (inEven && !inOdd) return 'UTF-16BE';
  return null;
}

/** True where the file begins with the mark of UTF-8, as files of rejected rows do. */
export function hasUtf8Mark(head: Buffer): boolean {
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
}

/**
 * Takes the bytes of a file in pieces and gives the encoding at the end. A file that is not UTF-8, and has no accent
 * in UTF-8 before its first other byte, is Windows-1252 (Latin-1 with common additions). A file that mixes both is
 * refused, because either reading would damage names.
 */
export class EncodingSurvey {
  #rest: Buffer = Buffer.alloc(0);
  #lines = 0;
  #accents = false;
  #encoding: Encoding = 'UTF-8';

  add(chunk: Buffer): void {
    if (this.#encoding !== 'UTF-8') return;
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const whole = wholeCharacters(bytes);
    this.#take(bytes.subarray(0, whole));
    // Copied, because the caller may read into the same buffer again.
    this.#rest = Buffer.from(bytes.subarray(whole));
  }

  /** True where all bytes so far are UTF-8. */
  get isUtf8(): boolean {
    return this.#encoding === 'UTF-8' && isUtf8(this.#rest);
  }

  /** Throws `BulkError` where the file is in two encodings. */
  end(file: string): Encoding {
    if (this.#encoding === 'UTF-8') this.#take(this.#rest);
    if (this.#encoding !== 'UTF-8' && this.#accents) {
      throw new BulkError(
        `${file}, line ${this.#lines + 1}: this line is not UTF-8, but lines before it are. Save the file again` +
          ' as UTF-8, or read it as it is with --encoding Windows-1252',
      );
    }
    return this.#encoding;
  }

  #take(bytes: Buffer): void {
    if (isUtf8(bytes)) {
      this.#accents ||= !isAscii(bytes);
      this.#lines += count(bytes, LF);
      return;
    }
    this.#encoding = 'Windows-1252';
    const good = goodPrefix(bytes);
    this.#accents ||= !isAscii(bytes.subarray(0, good));
    this.#lines += count(bytes.subarray(0, good), LF);
  }
}

/** The number of bytes up to the last whole character, if the bytes are UTF-8. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes.readUInt8(bytes.length - back);
    if (byte < 0x80) return bytes.length;
    if (byte >> 6 !== CONTINUATION) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

/** The length of the longest beginning that is UTF-8. */
function goodPrefix(bytes: Buffer): number {
  let low = 0;
  let high = bytes.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isUtf8(bytes.subarray(0, wholeCharacters(bytes.subarray(0, middle))))) low = middle;
    else high = middle - 1;
  }
  // The prefix may end with the first byte of a character.
  return wholeCharacters(bytes.subarray(0, low));
}

function count(bytes: Buffer, wanted: number): number {
  let found = 0;
  for (let index = bytes.indexOf(wanted); index >= 0; index = bytes.indexOf(wanted, index + 1)) found += 1;
  return found;
}

/** The bytes as UTF-8 without a byte order mark. Throws `BulkError` where they are not of the encoding. */
export async function* asUtf8(
  file: string,
  chunks: AsyncIterable<Buffer>,
  encoding: Encoding,
): AsyncGenerator<Buffer> {
  if (encoding === 'Windows-1252') {
    for await (const chunk of chunks) yield Buffer.from(decodeWindows1252(chunk));
    return;
  }
  if (encoding === 'UTF-8') return yield* withoutMark(chunks);
  const decoder = new TextDecoder(encoding.toLowerCase(), { fatal: true });
  try {
    for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }));
    yield Buffer.from(decoder.decode());
  } catch (error) {
    if (error instanceof TypeError) throw new BulkError(`${file}: it is not valid ${encoding}`);
    throw error;
  }
}

async function* withoutMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let first = true;
  for await (const chunk of chunks) {
    const marked = first && hasUtf8Mark(chunk);
    first = false;
    yield marked ? chunk.subarray(3) : chunk;
  }
}

// Decoded by hand, because some releases of Node decode Windows-1252 as Latin-1.
const FROM_80_TO_9F = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Every byte becomes a character. The five bytes that the code page leaves open become control characters. */
function decodeWindows1252(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (character) => FROM_80_TO_9F.charAt(character.charCodeAt(0) - 0x80));
}
