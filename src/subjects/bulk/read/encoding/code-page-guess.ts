/** Guesses the code page of a text by the plausibility of its names. */
import { CODE_PAGES, type CodePage, decodeCodePage } from './code-pages.ts';
import { costOf, isOddlySpelt, KNOWN_COST } from './word-cost.ts';

/** What speaks against a code page before a word is read: most programs of today save Windows-1252. */
const BEFORE: Readonly<Record<CodePage, number>> = {
  'Windows-1252': 0,
  'ISO-8859-15': 4,
  MacRoman: 4,
  cp850: 4,
  cp858: 4,
  cp437: 4,
  cp860: 8,
};
const OF_TODAY: readonly CodePage[] = ['Windows-1252', 'ISO-8859-15'];
/** A guess is sure where every other reading costs so much more. One word of rare letters is not enough. */
const SURE = 6;
/** Chance can make names of the bytes of a few words, unless one of them is a known word. */
const SURE_OF_FEW = 8;
const ENOUGH_WORDS = 5;
/** Words of no known language cost more, in every code page. */
const MAX_MEAN_COST = 8;
/** A word that costs so much is damaged, unless another code page reads it well. */
const DAMAGED = 14;
const GOOD = 2;

const SHOWN_WORDS = 5;

/** How a code page reads words that others read differently. */
export interface Reading {
  readonly page: CodePage;
  readonly words: readonly string[];
}

export type Guess =
  | { readonly kind: 'sure'; readonly page: CodePage }
  /** Several code pages are possible, or none is. `line` has a word that they read differently. */
  | { readonly kind: 'doubtful'; readonly readings: readonly Reading[]; readonly line: number }
  /** The text is of `page`, but the line is of another one. */
  | { readonly kind: 'mixed'; readonly page: CodePage; readonly other: CodePage; readonly line: number };

interface Candidate {
  readonly page: CodePage;
  readonly words: readonly string[];
  readonly costs: readonly number[];
  readonly total: number;
}

/** Guesses from the different words with bytes from 0x80 on, each as Latin-1 with its first line. */
export function guessCodePage(seen: ReadonlyMap<string, number>): Guess {
  const latin1 = [...seen.keys()];
  const lines = [...seen.values()];
  const [best, ...others] = candidatesOf(latin1);
  if (best === undefined) return { kind: 'sure', page: 'Windows-1252' };
  const [second] = others;
  const isPoor = best.total - BEFORE[best.page] > MAX_MEAN_COST * latin1.length;
  if (isPoor || (second !== undefined && !isSure(best, second))) {
    const all = [best, ...others];
    const differs = latin1.map((_, index) => new Set(all.map(({ words }) => words[index])).size > 1);
    // Words that the two best read differently come first.
    const order = [...differs.keys()]
      .filter((index) => differs[index])
      .sort((a, b) => Number(isSame(best, second, a)) - Number(isSame(best, second, b)) || a - b);
    const [first = 0] = order;
    const shown = order.slice(0, SHOWN_WORDS);
    const readings = all.map(({ page, words }) => ({
      page,
      words: shown.map((index) => words[index] ?? ''),
    }));
    return { kind: 'doubtful', readings, line: lines[first] ?? 1 };
  }
  for (const [index, line] of lines.entries()) {
    const other = others.find((one) => isOfOther(best, one, index));
    if (other !== undefined) return { kind: 'mixed', page: best.page, other: other.page, line };
  }
  return { kind: 'sure', page: best.page };
}

/** The code pages with different readings, the most plausible first. */
function candidatesOf(latin1: readonly string[]): Candidate[] {
  const byReading = new Map<string, Candidate>();
  for (const page of CODE_PAGES) {
    const words = latin1.map((word) => decodeCodePage(word, page));
    const reading = words.join(' ');
    if (byReading.has(reading)) continue;
    const costs = words.map(costOf);
    byReading.set(reading, {
      page,
      words,
      costs,
      total: costs.reduce((sum, cost) => sum + cost, BEFORE[page]),
    });
  }
  return [...byReading.values()].sort((a, b) => a.total - b.total);
}

/**
 * A guess of DOS or Mac from few words is never sure: few programs of today save such code pages. Neither is a guess
 * from few odd words: a dash, a quotation mark and `é` of Windows are the bytes of `ñ`, `í` and `Ú` elsewhere.
 */
function isSure(best: Candidate, second: Candidate): boolean {
  const isThin = best.words.length < ENOUGH_WORDS && !best.costs.includes(KNOWN_COST);
  if (isThin && (!OF_TODAY.includes(best.page) || best.words.some(isOddlySpelt))) return false;
  return second.total - best.total >= (isThin ? SURE_OF_FEW : SURE);
}

function isSame(best: Candidate, second: Candidate | undefined, index: number): boolean {
  return best.words[index] === second?.words[index];
}

/** True for a word that makes no sense by the text's code page, and good sense by another. */
function isOfOther(best: Candidate, other: Candidate, index: number): boolean {
  const [cost = 0, otherCost = 0] = [best.costs[index], other.costs[index]];
  if (otherCost === KNOWN_COST && cost !== KNOWN_COST) return !/^[\p{L}’]+$/u.test(best.words[index] ?? '');
  return cost >= DAMAGED && otherCost <= GOOD;
}
