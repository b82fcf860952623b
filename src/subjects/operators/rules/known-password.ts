/**
 * Whether a password is one that others try: a known one, or words, names, years, keys in a row and repetitions where
 * only a few guesses are left (NIST SP 800-63B, section 3.1.1.2). Without accents, capitals and the usual digits for
 * letters, so that `P4ssw0rd2026!` is what it is.
 *
 * It counts the bits of the cheapest way to put the text together. A random text has 4.7 bits a letter, a word has what
 * its place in the lists tells. Made for this: @zxcvbn-ts/core, which does the same by more rules, took 300 ms of CPU a
 * password, and this takes 1 ms (docs/operators.md).
 */
import { KNOWN_PASSWORDS, WORD_CLASSES } from './known-words.ts';

/** Fewer bits are known. Of 2,000 random passwords of 12 letters and digits none has fewer, and seven have under 42. */
const LEAST_BITS = 38;

const LONGEST_WORD = 24;
const LETTER_BITS = Math.log2(26);
const DIGIT_BITS = Math.log2(10);
const OTHER_BITS = 5;
const ROW_BITS = 6;
const YEAR_BITS = 6;
const SAME_BITS = 7;
const AGAIN_BITS = 2;

/** Keys and letters in a row, and columns of keys from the left to the right. */
const ROWS = ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm', 'abcdefghijklmnopqrstuvwxyz'];
const COLUMNS = [
  '1qaz2wsx3edc4rfv5tgb6yhn',
  'zaq12wsxcde34rfvbgt5',
  'q1w2e3r4t5y6u7i8o9p0',
  '1q2w3e4r5t6y7u8i9o0p',
];
const RUNS = [...ROWS, ...COLUMNS].flatMap((row) => [row, [...row].reverse().join('')]);

const LETTERS: Readonly<Record<string, string>> = {
  ...{ 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't' },
  ...{ '@': 'a', $: 's', '!': 'i' },
};

let known: { readonly bits: ReadonlyMap<string, number>; readonly whole: ReadonlySet<string> } | null = null;

/** `own` are words of the person and of the service, such as the login: they count as the most common ones. */
export function isKnownPassword(password: string, own: readonly string[]): boolean {
  known ??= {
    bits: new Map(
      WORD_CLASSES.flatMap(({ rank, words }) => words.split(' ').map((word) => [word, Math.log2(rank) + 1])),
    ),
    whole: new Set(KNOWN_PASSWORDS.split(' ')),
  };
  const text = folded(password);
  return known.whole.has(text) || leastBits(text, known.bits, own.map(folded)) < LEAST_BITS;
}

function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

/** The bits of the cheapest way: `least[end]` is that of the text up to there. */
function leastBits(text: string, bits: ReadonlyMap<string, number>, own: readonly string[]): number {
  const asLetters = [...text].map((character) => LETTERS[character] ?? character).join('');
  const least = [0];
  for (let end = 1; end <= text.length; end += 1) {
    let best = least[end - 1]! + bitsOfCharacter(text[end - 1]!);
    for (let start = Math.max(0, end - LONGEST_WORD); start <= end - 2; start += 1) {
      const part = text.slice(start, end);
      const word = asLetters.slice(start, end);
      const ofWord = own.includes(word)
        ? 1
        : Math.min(bits.get(part) ?? Infinity, (bits.get(word) ?? Infinity) + 1);
      best = Math.min(best, least[start]! + Math.min(ofWord, bitsOfPattern(text, start, part)));
    }
    least.push(best);
  }
  return least.at(-1)!;
}

function bitsOfCharacter(character: string): number {
  if (/[a-z]/.test(character)) return LETTER_BITS;
  return /\d/.test(character) ? DIGIT_BITS : OTHER_BITS;
}

/** The bits of a part that follows a rule: a run, a year, one character again and again, or what stands before it. */
function bitsOfPattern(text: string, start: number, part: string): number {
  if (isAgain(text, start, part)) return AGAIN_BITS;
  if (/^(19|20)\d\d$/.test(part)) return YEAR_BITS;
  if (part.length < 3) return Infinity;
  if (RUNS.some((run) => run.includes(part))) return ROW_BITS;
  return /^(.)\1+$/s.test(part) ? SAME_BITS : Infinity;
}

/** Whether the part repeats, once or more, the text before it. */
function isAgain(text: string, start: number, part: string): boolean {
  for (let size = 1; size <= Math.min(start, part.length); size += 1) {
    if (part.length % size === 0 && part === text.slice(start - size, start).repeat(part.length / size))
      return true;
  }
  return false;
}
