/** Texts without case and accents, so that what people and machines write differently is equal. */

const MARKS = /\p{M}/gu;

/** A character without case and accents: always one character, so that places in a text stay the same. */
function foldCharacter(character: string): string {
  const [base = ' '] = character.normalize('NFD').replace(MARKS, '').toLowerCase();
  return base;
}

/** The characters of a text, each without case and accents; every kind of space is a space. */
export function foldCharacters(text: string): string[] {
  return [...text].map((character) => (/\s/u.test(character) ? ' ' : foldCharacter(character)));
}

/** A text without case and accents, with one space between words. */
export function fold(text: string): string {
  return foldCharacters(text.normalize('NFC')).join('').replace(/ +/g, ' ').trim();
}

/** The words of a text: its letters and digits, without case and accents. */
export function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}
