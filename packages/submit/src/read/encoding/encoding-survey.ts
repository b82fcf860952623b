/** Finds the encoding of a text file from all of its bytes: a guess from its beginning could be wrong. */

import { BulkError } from '../bulk-error.ts';
import { isAscii, isUtf8, joined, latin1Of, NO_BYTES, wholeCharacters } from '../bytes.ts';
import type { FileWords } from '../file-words.ts';
import { type Guess, guessCodePage, type Reading } from './code-page-guess.ts';
import type { CodePage } from './encoding.ts';

// UTF-8 in bytes that may be UTF-8 by chance, or in part.

const CONTINUATION = 0b10;

/**
 * True for UTF-8 with a character that such files have: any but phonetic, Greek, Cyrillic, Hebrew and Arabic letters,
 * whose two bytes code pages have as well (`Íñ` of DOS, a capital letter before a closing quotation mark of Windows).
 */
function hasAccent(utf8: Uint8Array): boolean {
  if (isAscii(utf8)) return false;
  for (const byte of utf8) if (byte >= 0xc2 && !isLeadOfOtherLetters(byte)) return true;
  return false;
}

function isLeadOfOtherLetters(byte: number): boolean {
  return byte >= 0xc9 && byte <= 0xdf && byte !== 0xcc;
}

/** True for a letter of another alphabet in UTF-8 that stands beside a Latin letter. */
function isChancePair(bytes: Uint8Array, index: number): boolean {
  return isLeadOfOtherLetters(bytes[index]!) && [bytes[index - 1], bytes[index + 2]].some(isLatinLetter);
}

/** True for an accented letter of Latin-1 in UTF-8. No code page has words with these two bytes. */
function isAccentInUtf8(byte: number, next: number | undefined): boolean {
  return (
    next !== undefined && next >> 6 === CONTINUATION && (byte === 0xc3 || (byte === 0xc2 && next >= 0xa0))
  );
}

/** The length of the longest beginning that is UTF-8. */
function goodPrefix(bytes: Uint8Array): number {
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

/** Bounds memory. So many different words leave no doubt. */
const MAX_WORDS = 5_000;

/** Several encodings are possible, and names would read differently. A person can choose by the readings. */
export class DoubtfulEncoding extends BulkError {
  readonly readings: readonly Reading[];
  constructor(file: string, line: number, readings: readonly Reading[]) {
    const pages = readings.map(({ page }) => page).join(', ');
    super({
      en: `${file}, line ${line}: the file is not UTF-8, and its encoding is doubtful: names read differently as ${pages}. Choose one with --encoding, or save the file again as UTF-8`,
      es: `${file}, línea ${line}: el archivo no es UTF-8 y su codificación es dudosa: los nombres se leen distinto como ${pages}. Elige una con --encoding o guarda el archivo de nuevo como UTF-8`,
      pt: `${file}, linha ${line}: o arquivo não é UTF-8 e sua codificação é duvidosa: os nomes são lidos de formas diferentes como ${pages}. Escolha uma com --encoding ou salve o arquivo de novo como UTF-8`,
    });
    this.readings = readings;
  }
}

/**
 * Takes the bytes of a file in pieces and gives the encoding at the end. A file that is not UTF-8 is in a code page,
 * which its names tell. A file that mixes encodings is refused, because either reading would damage names.
 */
export class EncodingSurvey {
  #rest = NO_BYTES;
  #lines = 0;
  #isUtf8 = true;
  /** True where there are accents in UTF-8. Then words do not matter. */
  #hasAccents = false;
  /** True where there are pairs of bytes that are UTF-8 by chance alone. */
  #hasChancePairs = false;
  /** The words with bytes from 0x80 on, as Latin-1, each with its first line. */
  readonly #words = new Map<string, number>();
  readonly #hashes = new Set<number>();
  /** The first line with an accent in UTF-8, of a file that is not UTF-8. */
  #utf8Line: number | null = null;

  add(chunk: Uint8Array): void {
    const bytes = this.#rest.length === 0 ? chunk : joined([this.#rest, chunk]);
    const rest = this.#takeUtf8(bytes, wholeCharacters(bytes));
    const whole = rest.length === 0 || this.#isUtf8 ? 0 : wholeWords(rest);
    this.#takeWords(rest.subarray(0, whole));
    // Copied, because the caller may read into the same buffer again.
    this.#rest = new Uint8Array(rest.subarray(whole));
  }

  /** True where all bytes so far are UTF-8. */
  get isUtf8(): boolean {
    return this.#isUtf8 && isUtf8(this.#rest);
  }

  /** True where all bytes so far are UTF-8, with accents. */
  get isSurelyUtf8(): boolean {
    return this.isUtf8 && (this.#hasAccents || hasAccent(this.#rest));
  }

  /** Throws `BulkError` where the file is in two encodings, and `DoubtfulEncoding` where it could be in several. */
  end(file: string): 'UTF-8' | CodePage {
    this.#takeWords(this.#takeUtf8(this.#rest, this.#rest.length));
    this.#rest = NO_BYTES;
    if (this.#isUtf8 && (this.#hasAccents || !this.#hasChancePairs)) return 'UTF-8';
    if (this.#hasAccents) {
      throw errorAt(file, this.#lines + 1, 'Windows-1252', {
        en: 'this line is not UTF-8, but lines before it are',
        es: 'esta línea no es UTF-8, pero las anteriores sí',
        pt: 'esta linha não é UTF-8, mas as anteriores são',
      });
    }
    if (this.#utf8Line !== null) {
      throw errorAt(file, this.#utf8Line, 'Windows-1252', {
        en: 'this line is UTF-8, but lines before it are not',
        es: 'esta línea es UTF-8, pero las anteriores no',
        pt: 'esta linha é UTF-8, mas as anteriores não são',
      });
    }
    return pageOf(file, guessCodePage(this.#words));
  }

  /** Takes the first `whole` bytes where they are UTF-8. Returns the bytes that are not taken. */
  #takeUtf8(bytes: Uint8Array, whole: number): Uint8Array {
    if (!this.#isUtf8) return bytes;
    const text = bytes.subarray(0, whole);
    this.#isUtf8 = isUtf8(text);
    const good = this.#isUtf8 ? text : text.subarray(0, goodPrefix(text));
    this.#hasAccents ||= hasAccent(good);
    if (this.#hasAccents || isAscii(text)) this.#lines += lineEnds(good);
    else if (this.#isUtf8) this.#takeWords(good);
    // Without accents before it, the first bad byte may be within a word: its line is read as words.
    else return bytes;
    return bytes.subarray(good.length);
  }

  #takeWords(bytes: Uint8Array): void {
    if (this.#hasAccents) return;
    for (let index = 0; index < bytes.length; index += 1) {
      const byte = bytes[index]!;
      if (byte < 0x80) {
        if (endsLine(bytes, index)) this.#lines += 1;
        continue;
      }
      if (isAccentInUtf8(byte, bytes[index + 1])) this.#utf8Line ??= this.#lines + 1;
      this.#hasChancePairs ||= isChancePair(bytes, index);
      const [start, end] = [startOfWord(bytes, index), endOfWord(bytes, index)];
      this.#addWord(bytes, start, end);
      // The bytes of the word need no second look, except for accents in UTF-8.
      for (index += 1; index < end; index += 1) {
        if (isAccentInUtf8(bytes[index]!, bytes[index + 1])) this.#utf8Line ??= this.#lines + 1;
      }
      index -= 1;
    }
  }

  #addWord(bytes: Uint8Array, start: number, end: number): void {
    if (this.#words.size === MAX_WORDS) return;
    // FNV-1a. Most words come again and again, and a number is compared faster than a text.
    let hash = 0x811c9dc5;
    for (let index = start; index < end; index += 1) hash = Math.imul(hash ^ bytes[index]!, 0x01000193);
    if (this.#hashes.has(hash)) return;
    this.#hashes.add(hash);
    this.#words.set(latin1Of(bytes.subarray(start, end)), this.#lines + 1);
  }
}

function pageOf(file: string, guess: Guess): CodePage {
  if (guess.kind === 'sure') return guess.page;
  if (guess.kind === 'doubtful') throw new DoubtfulEncoding(file, guess.line, guess.readings);
  throw errorAt(file, guess.line, guess.page, {
    en: `this line reads as ${guess.other}, but others read as ${guess.page}`,
    es: `esta línea se lee como ${guess.other}, pero otras como ${guess.page}`,
    pt: `esta linha é lida como ${guess.other}, mas outras como ${guess.page}`,
  });
}

/** The error of a line, with the code page that the file can be read in as it is. */
function errorAt(file: string, line: number, page: CodePage, { en, es, pt }: FileWords): BulkError {
  return new BulkError({
    en: `${file}, line ${line}: ${en}. Save the file again as UTF-8, or read it as it is with --encoding ${page}`,
    es: `${file}, línea ${line}: ${es}. Guarda el archivo de nuevo como UTF-8, o léelo como está con --encoding ${page}`,
    pt: `${file}, linha ${line}: ${pt}. Salve o arquivo de novo como UTF-8, ou leia-o como está com --encoding ${page}`,
  });
}

/** Words and lines in bytes whose encoding nobody knows yet. */
const LF = 0x0a;
const CR = 0x0d;
/** A word is cut at so many bytes on either side of its first one from 0x80 on. */
const MAX_WORD_BYTES = 40;

/** True for a letter of ASCII. */
function isLatinLetter(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a));
}

function isInWord(byte: number): boolean {
  return byte >= 0x80 || isLatinLetter(byte) || (byte >= 0x30 && byte <= 0x39) || byte === 0x27;
}

/** The index of the first byte of the word around a byte. A word is cut at 40 bytes on either side. */
function startOfWord(bytes: Uint8Array, index: number): number {
  let start = index;
  while (start > 0 && index - start < MAX_WORD_BYTES && isInWord(bytes[start - 1]!)) start -= 1;
  return start;
}

/** The index behind the last byte of the word around a byte. */
function endOfWord(bytes: Uint8Array, index: number): number {
  let end = index + 1;
  while (end < bytes.length && end - index < MAX_WORD_BYTES && isInWord(bytes[end]!)) end += 1;
  return end;
}

/** The number of bytes up to the last whole word. A word without end is cut. */
function wholeWords(bytes: Uint8Array): number {
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 2 * MAX_WORD_BYTES && isInWord(bytes[end - 1]!)) end -= 1;
  // A carriage return at the very end may be half of a line break.
  return end > 0 && bytes[end - 1] === CR ? end - 1 : end;
}

/** The number of line ends. Files of old Macs end lines with a carriage return alone. */
function lineEnds(bytes: Uint8Array): number {
  const wanted = bytes.includes(LF) ? LF : CR;
  let found = 0;
  for (let index = bytes.indexOf(wanted); index >= 0; index = bytes.indexOf(wanted, index + 1)) found += 1;
  return found;
}

/** True for the last byte of a line end. */
function endsLine(bytes: Uint8Array, index: number): boolean {
  const byte = bytes[index];
  return byte === LF || (byte === CR && bytes[index + 1] !== LF);
}
