/** Words and lines in bytes whose encoding nobody knows yet. */
const LF = 0x0a;
const CR = 0x0d;
/** A word is cut at so many bytes on either side of its first one from 0x80 on. */
const MAX_WORD_BYTES = 40;

/** True for a letter of ASCII. */
export function isLatinLetter(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a));
}

function isInWord(byte: number): boolean {
  return byte >= 0x80 || isLatinLetter(byte) || (byte >= 0x30 && byte <= 0x39) || byte === 0x27;
}

/** The index of the first byte of the word around a byte. A word is cut at 40 bytes on either side. */
export function startOfWord(bytes: Buffer, index: number): number {
  let start = index;
  while (start > 0 && index - start < MAX_WORD_BYTES && isInWord(bytes[start - 1]!)) start -= 1;
  return start;
}

/** The index behind the last byte of the word around a byte. */
export function endOfWord(bytes: Buffer, index: number): number {
  let end = index + 1;
  while (end < bytes.length && end - index < MAX_WORD_BYTES && isInWord(bytes[end]!)) end += 1;
  return end;
}

/** The number of bytes up to the last whole word. A word without end is cut. */
export function wholeWords(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 2 * MAX_WORD_BYTES && isInWord(bytes[end - 1]!)) end -= 1;
  // A carriage return at the very end may be half of a line break.
  return end > 0 && bytes[end - 1] === CR ? end - 1 : end;
}

/** The number of line ends. Files of old Macs end lines with a carriage return alone. */
export function lineEnds(bytes: Buffer): number {
  const wanted = bytes.includes(LF) ? LF : CR;
  let found = 0;
  for (let index = bytes.indexOf(wanted); index >= 0; index = bytes.indexOf(wanted, index + 1)) found += 1;
  return found;
}

/** True for the last byte of a line end. */
export function endsLine(bytes: Buffer, index: number): boolean {
  const byte = bytes[index];
  return byte === LF || (byte === CR && bytes[index + 1] !== LF);
}
