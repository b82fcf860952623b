/** Reads the words that mean consent and no consent. Other words are never guessed (D10). */
import { BulkError } from '../read/bulk-error.ts';

/** The meaning of each known word, in the form of `foldWord`; a word that is absent has none. */
export type ConsentWords = ReadonlyMap<string, boolean>;

/**
 * The words that are always known, in any capitalisation: a spreadsheet saves the values true and false as these words
 * in English, Spanish and Portuguese.
 */
export const TRUE_AND_FALSE: ConsentWords = new Map([
  ['true', true],
  ['false', false],
  ['verdadero', true],
  ['verdadeiro', true],
  ['falso', false],
]);

/** Reads `sí,1/no,0`: the words for consent, a slash, the words for none. Throws `BulkError`. */
export function readConsentWords(text: string): ConsentWords {
  const sides = text.split('/').map((side) => side.split(',').map(foldWord).filter(Boolean));
  const [yes = [], no = []] = sides;
  if (sides.length !== 2 || yes.length === 0 || no.length === 0 || yes.some((word) => no.includes(word))) {
    throw new BulkError({
      en: '--consent-values must name the words for consent, a slash and the words for none: sí,1/no,0',
      es: '--consent-values debe tener las palabras que dan el consentimiento, una barra y las que no lo dan: sí,1/no,0',
      pt: '--consent-values deve ter as palavras que dão o consentimento, uma barra e as que não o dão: sim,1/não,0',
    });
  }
  return new Map([
    ...TRUE_AND_FALSE,
    ...yes.map((word) => [word, true] as const),
    ...no.map((word) => [word, false] as const),
  ]);
}

/**
 * The form in which words are compared: without accents, because not every keyboard has them, and without characters
 * that nobody sees. Signs such as < count.
 */
export function foldWord(word: string): string {
  return word
    .normalize('NFD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim();
}
