/** Guesses the code page of a text by the plausibility of its names. */
import { CODE_PAGES, type CodePage, decodeCodePage } from './encoding.ts';

// How odd a word is that was read by some code page. The costs know how Spanish and Portuguese write, and some names
// and titles: the same byte is a letter in one code page, and a sign or a rare letter in another.

/** Frequent words with accents. None of them, read by a wrong code page, is another one. */
const KNOWN = new Set(
  `garcía rodríguez martínez hernández lópez gonzález pérez sánchez ramírez gómez díaz álvarez muñoz núñez jiménez
  gutiérrez vásquez vázquez suárez peña cárdenas córdoba chávez méndez guzmán fernández domínguez vélez castañeda ordóñez
  avendaño londoño patiño marín durán galán beltrán rincón león josé maría jesús raúl andrés sebastián julián fabián iván
  germán adrián martín joaquín agustín simón ramón rubén óscar víctor héctor césar álvaro ángel ángela verónica mónica
  sofía lucía rocío inés nicolás tomás matías jerónimo gastón damián hernán efraín belén concepción asunción bogotá
  medellín cúcuta ibagué popayán montería quibdó tuluá chía zipaquirá fusagasugá facatativá girón apartadó itagüí méxico
  mérida querétaro juárez cancún culiacán torreón potosí yucatán michoacán panamá perú valparaíso tucumán neuquén são
  joão conceição araújo gonçalves simões magalhães antônio antónio luís cláudia júlia márcia fábio flávio vinícius
  patrícia letícia brasília goiânia maceió cuiabá macapá paraná ceará maranhão goiás niterói florianópolis vitória
  uberlândia ribeirão assunção encarnação sebastião estêvão mônica sônia rondônia amapá pará piauí paraíba lourenço
  teléfono cédula número código dirección población año años antigüedad sí más situación opción dívida dívidas histórico
  não mês município endereço`.split(/\s+/),
);
/** The cost of a known word: it outweighs what a single sign could say. */
const KNOWN_COST = -12;
/** A sign that no name has beside a letter. */
const STRANGE = 16;
const CONTROL = 18;
const RARE = 6;
/** A small letter before a capital one. */
const CASE_CLASH = 6;

/** How odd a word is: about 1 for each usual accent, more for what is rare, much for what no word has. */
function costOf(word: string): number {
  if (KNOWN.has(word.toLowerCase())) return KNOWN_COST;
  let cost = 0;
  for (let index = 0; index < word.length; index += 1) {
    if (word.charCodeAt(index) >= 0x80)
      cost += isLetter(word[index]) ? letterCost(word, index) : signCost(word, index);
  }
  return cost;
}

/**
 * True for a word that has signs, but for `ª`, `º`, `°` and the apostrophe of a name (`O’Neil`, `Dell’Acqua`), or a
 * small accent among capitals (`PABóN`).
 */
function isOddlySpelt(word: string): boolean {
  for (let index = 0; index < word.length; index += 1) {
    const sign = word[index] ?? '';
    if (sign < '\x80' || 'ªº°'.includes(sign)) continue;
    const [first, before, , after, second] = [-2, -1, 0, 1, 2].map((place) => caseOf(word[index + place]));
    const isOdd = isLetter(sign)
      ? caseOf(sign) === 'lower' && (after === 'upper' || (first === 'upper' && before === 'upper'))
      : sign !== '’' || before === null || after !== 'upper' || second !== 'lower';
    if (isOdd) return true;
  }
  return false;
}

const COMMON = 'áéíóúñü';
const VOWELS = 'aeiouáéíóúâêôãõàü';
/** Letters of the names that such files may have; letters of no Latin alphabet are signs of a wrong code page. */
const LETTERS = /^[A-Za-zÀ-ÖØ-öø-ÿŠšŽžŒœŸ]$/;

function isLetter(sign: string | undefined): boolean {
  return sign !== undefined && LETTERS.test(sign);
}

function letterCost(word: string, index: number): number {
  const letter = (word[index] ?? '').toLowerCase();
  const [before = '', after = ''] = [word[index - 1]?.toLowerCase(), word[index + 1]?.toLowerCase()];
  let cost = caseCost(word, index);
  if (word.length === 1) cost += 3;
  if (/\d/.test(before + after)) cost += 8;
  const base = letter.normalize('NFD').charAt(0);
  if (base === before || base === after) cost += 4;
  return cost + usualCost(letter, before, after);
}

/** The cost of a letter by where Spanish and Portuguese use it. */
function usualCost(letter: string, before: string, after: string): number {
  if (letter === 'ñ') return (VOWELS.includes(after) && after !== '') || before === '' ? 1 : 5;
  if (COMMON.includes(letter)) return 1;
  // `Michaël`, `Anaïs`
  if ('ëï'.includes(letter) && before !== '' && VOWELS.includes(before)) return 4;
  if (letter === 'ã') return 'oesi'.includes(after) ? 1.5 : RARE;
  if (letter === 'õ') return after === 'e' ? 1.5 : RARE;
  if (letter === 'ç') return after !== '' && 'aouáóúâôãõ'.includes(after) ? 1.5 : RARE;
  return 'âêôà'.includes(letter) ? 2 : RARE;
}

function caseCost(word: string, index: number): number {
  const [before, letter, after] = [word[index - 1], word[index], word[index + 1]].map(caseOf);
  if (letter === 'upper')
    return before === 'lower' || (before === 'upper' && after === 'lower') ? CASE_CLASH : 0;
  // Some programs make capitals of plain letters alone: `NUñEZ`, `JOSé`.
  const isInCapitals =
    after === 'upper' ? caseOf(word[index + 2]) !== 'lower' : caseOf(word[index - 2]) === 'upper';
  if (before === 'upper' && after !== 'lower' && isInCapitals) return 2;
  return after === 'upper' ? CASE_CLASH : 0;
}

function caseOf(sign: string | undefined): 'upper' | 'lower' | null {
  if (sign === undefined || !isLetter(sign)) return null;
  return sign === sign.toLowerCase() ? 'lower' : 'upper';
}

function signCost(word: string, index: number): number {
  const sign = word[index] ?? '';
  if (sign < '\xa0') return CONTROL;
  const [before, after] = [word[index - 1], word[index + 1]];
  if (isLetter(before) && isLetter(after)) return costInside(word, index, sign);
  const isBeside = isLetter(before) || isLetter(after);
  if (sign === '\xa0') return costOfSpace(word, index);
  if ('ªº°'.includes(sign)) return 1;
  if ('¿¡'.includes(sign)) return before === undefined ? 5 : STRANGE;
  if ('“‘«'.includes(sign)) return isLetter(before) ? 10 : 3;
  if ('”’»–—´'.includes(sign)) return 3;
  if ('…•·™®©'.includes(sign)) return 4;
  if ('€£¢¥²³¹½¼¾±×÷§'.includes(sign)) return isBeside ? STRANGE : 2;
  return isBeside || sign === '¤' ? STRANGE : RARE;
}

/** The cost of a sign between two letters. */
function costInside(word: string, index: number, sign: string): number {
  const [before, after] = [caseOf(word[index - 1]), caseOf(word[index + 1])];
  // `D´Angelo`, `O’Neil`, `Dell’Acqua`
  if (sign === '´' && index <= 2) return 1;
  const isBreak = before === 'lower' && after === 'upper';
  if ('’‘´'.includes(sign)) return isBreak || index === 1 || (index === 2 && sign === '’') ? 3 : 8;
  if (sign === '\xa0') return costOfSpace(word, index);
  if ('–—'.includes(sign)) return isBreak ? 4 : 12;
  if (sign === '·') return /l·l/i.test(word.slice(index - 1, index + 2)) ? 3 : STRANGE;
  return 'ªº°'.includes(sign) ? RARE : STRANGE;
}

/** A space that does not break costs as much as `á`, which is this byte in DOS: alone it decides nothing. */
function costOfSpace(word: string, index: number): number {
  const [first, before, after] = [word[index - 2], word[index - 1], word[index + 1]].map(caseOf);
  return before === 'upper' && (after === 'upper' || first === 'upper') ? 3 : 1;
}

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
