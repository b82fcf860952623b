/** UTF-8 in bytes that may be UTF-8 by chance, or in part. */
import { isAscii, isUtf8 } from 'node:buffer';
import { isLatinLetter } from './byte-words.ts';

const CONTINUATION = 0b10;

/**
 * True for UTF-8 with a character that such files have: any but phonetic, Greek, Cyrillic, Hebrew and Arabic letters,
 * whose two bytes code pages have as well (`Íñ` of DOS, a capital letter before a closing quotation mark of Windows).
 */
export function hasAccent(utf8: Buffer): boolean {
  if (isAscii(utf8)) return false;
  for (const byte of utf8) if (byte >= 0xc2 && !isLeadOfOtherLetters(byte)) return true;
  return false;
}

function isLeadOfOtherLetters(byte: number): boolean {
  return byte >= 0xc9 && byte <= 0xdf && byte !== 0xcc;
}

/** True for a letter of another alphabet in UTF-8 that stands beside a Latin letter. */
export function isChancePair(bytes: Buffer, index: number): boolean {
  return isLeadOfOtherLetters(bytes[index]!) && [bytes[index - 1], bytes[index + 2]].some(isLatinLetter);
}

/** True for an accented letter of Latin-1 in UTF-8. No code page has words with these two bytes. */
export function isAccentInUtf8(byte: number, next: number | undefined): boolean {
  return (
    next !== undefined && next >> 6 === CONTINUATION && (byte === 0xc3 || (byte === 0xc2 && next >= 0xa0))
  );
}

/** The number of bytes up to the last whole character, if the bytes are UTF-8. */
export function wholeCharacters(bytes: Buffer): number {
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
export function goodPrefix(bytes: Buffer): number {
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
