/**
 * Folds texts: without case and accents, so that different spellings of one word are equal. Pure. docs/documents.md
 * ("The reader") says what is compared.
 */

const MARKS = /\p{M}/gu;

/** A character without case and accents: always one character, so that places in a text stay the same. */
function foldAny(character: string): string {
  if (/\s/u.test(character)) return ' ';
  const [base = ' '] = character.normalize('NFD').replace(MARKS, '').toLowerCase();
  return base;
}

/** The Latin characters, which nearly all of a statement is made of: to look one up takes a hundredth of the time. */
const LATIN = Array.from({ length: 0x250 }, (_, code) => foldAny(String.fromCodePoint(code)));

/** The characters of a text, each without case and accents; every kind of space is a space. */
export function foldCharacters(text: string): string[] {
  return [...text].map((character) => LATIN[character.codePointAt(0) ?? 0] ?? foldAny(character));
}

/** A text without case and accents, with one space between words. */
export function fold(text: string): string {
  return foldCharacters(text.normalize('NFC')).join('').replace(/ +/g, ' ').trim();
}

/** The words of a text: its letters and digits, without case and accents. */
export function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}
