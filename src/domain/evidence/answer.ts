/** Reads what an applicant writes to sign: the last four characters of the ID number, and the code (D46). Pure. */
import { foldIdNumber } from '../application/fold-id-number.ts';

/** What is asked for. */
export type SigningQuestion = 'last_four' | 'code';

const LAST = 4;
const LONGEST = 200;

/**
 * Six digits, also in two halves (`123 456`, `123-456`) and among other words; null if there is no code, or several.
 */
export function readCode(text: string): string | null {
  if (text.length > LONGEST) return null;
  const joined = text.normalize('NFKC').replace(/(?<!\d)(\d{3})[\s.-](\d{3})(?!\d)/g, '$1$2');
  return onlyOne(wordsOf(joined).filter((word) => /^\d{6}$/.test(word)));
}

/**
 * The end of an ID number: a word of four letters and digits with a digit in it, or a text of four letters alone;
 * folded as `lastFourOf` folds. Null if there is none, or several.
 */
export function readLastFour(text: string): string | null {
  if (text.length > LONGEST) return null;
  const whole = folded(text);
  if ([...whole].length === LAST) return whole;
  const words = wordsOf(text.normalize('NFKC'));
  return onlyOne(words.filter((word) => [...word].length === LAST && /\d/.test(word)).map(folded));
}

/** The last four letters and digits of an ID number, as they are compared; the type of document is no part (D49). */
export function lastFourOf(idNumber: string): string {
  return [...folded(foldIdNumber(idNumber))].slice(-LAST).join('');
}

/** Whether an ID number is long enough to be asked for. For a shorter one no answer can be right. */
export function hasLastFour(idNumber: string): boolean {
  return [...lastFourOf(idNumber)].length === LAST;
}

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{Nd}]+/u).filter((word) => word !== '');
}

function onlyOne(words: readonly string[]): string | null {
  return words.length === 1 ? (words[0] ?? null) : null;
}

/** Letters and digits alone, in capitals without accents. */
function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[^\p{L}\p{Nd}]/gu, '')
    .toUpperCase();
}
