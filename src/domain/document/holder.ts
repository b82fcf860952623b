/** Compares the holder whom a statement names with the applicant (docs/documents.md; D49 for ID numbers). Pure. */
import { foldIdNumber } from '../application/fold-id-number.ts';
import { wordsOf } from './fold.ts';

/** A person as the application or the statement has them. */
export interface Holder {
  readonly name: string | null;
  readonly idNumber: string | null;
}

/** `unknown`: the statement names nobody that can be compared. */
export type HolderMatch = 'same' | 'another' | 'unknown';

/** Particles, which may be left out of a name: `Ana de la Cruz` is `Ana Cruz`. */
const PARTICLES = new Set(['de', 'del', 'da', 'das', 'do', 'dos', 'e', 'la', 'las', 'los', 'y']);
/** The signs that a statement shows in the place of hidden digits. */
const HIDDEN = /^[*xX•.#]*[*xX•#]+/;
/** Fewer digits than these prove nothing. */
const LEAST_SHOWN = 3;

/**
 * Whether the statement is of this applicant. The name is compared by its words, the ID number as D49 compares it, and
 * without zeros and words before it too; the one that differs decides.
 */
export function matchHolder(applicant: Holder, statement: Holder): HolderMatch {
  const matches = [
    matchNames(applicant.name, statement.name),
    matchIdNumbers(applicant.idNumber, statement.idNumber),
  ];
  if (matches.includes('another')) return 'another';
  return matches.includes('same') ? 'same' : 'unknown';
}

/**
 * One name may have words that the other one lacks (a second name, a second surname), but not the other way round as
 * well. A name that shares only one of several words says nothing about the person.
 */
function matchNames(one: string | null, other: string | null): HolderMatch {
  const [short, long] = [nameWords(one), nameWords(other)].sort((a, b) => a.length - b.length) as [
    string[],
    string[],
  ];
  if (short.length === 0) return 'unknown';
  const left = [...long];
  for (const word of short) {
    const at = left.indexOf(word);
    if (at === -1) return 'another';
    left.splice(at, 1);
  }
  if (short.length === 1 && long.length > 1) return 'unknown';
  return 'same';
}

function nameWords(name: string | null): string[] {
  return wordsOf(name ?? '').filter((word) => word.length > 1 && !PARTICLES.has(word));
}

function matchIdNumbers(one: string | null, other: string | null): HolderMatch {
  if (one === null || other === null) return 'unknown';
  const shown = other.trim().replace(HIDDEN, '');
  const isHidden = shown !== other.trim();
  const forms = [foldIdNumber, plain].map((form) => [form(one), form(shown)] as const);
  if (forms.some(([mine, theirs]) => mine === '' || theirs.length < LEAST_SHOWN)) return 'unknown';
  const isSame = forms.some(([mine, theirs]) => (isHidden ? mine.endsWith(theirs) : mine === theirs));
  return isSame ? 'same' : 'another';
}

/** Without words before the number, dots, dashes and leading zeros: a statement has its own labels and widths. */
function plain(idNumber: string): string {
  const words = wordsOf(idNumber);
  const first = words.findIndex((word) => /\d/.test(word));
  return foldIdNumber(words.slice(Math.max(0, first)).join(' ')).replace(/^0+/, '');
}
