/**
 * Judges the formats of a spreadsheet's numbers: whether a cell shows the number that it holds (ECMA-376, part 1,
 * 18.8.30 and 18.8.31). A format is judged once, not once a cell.
 */

import { currencyOf, type NamedCurrency } from '../currency-words.ts';
import { type Cell, ShownNumber, Unusable } from '../table.ts';

/** What a section of a format shows of a number. */
export type Section =
  /** The number itself: with decimals, separators of thousands, a currency. An integer has at least `minDigits`. */
  | { readonly kind: 'number'; readonly minDigits: number; readonly currency: NamedCurrency | null }
  /** The digits of an integer among other text. */
  | { readonly kind: 'text'; readonly parts: readonly Part[] }
  /** Shortened, scaled, a fraction or nothing; or the format is not understood. */
  | { readonly kind: 'date' | 'percentage' | 'other' };

/** A text, or the place of a digit. */
type Part = string | DigitPlace;
type DigitPlace = { readonly fill: '0' | '' | ' ' };
const PLACES = { '0': { fill: '0' }, '#': { fill: '' }, '?': { fill: ' ' } } as const;

export interface NumberFormat {
  readonly positive: Section;
  readonly negative: Section;
  readonly zero: Section;
}

/** Excel writes no longer format. */
const MAX_LENGTH = 255;
const NUMBER: Section = { kind: 'number', minDigits: 1, currency: null };
const OTHER: Section = { kind: 'other' };

/** The format of a cell without another one. */
export const GENERAL: NumberFormat = allOf(NUMBER);

/** Formats that are built in and have no code. All others show the number itself. */
const BUILT_IN: readonly (readonly [first: number, last: number, kind: 'date' | 'percentage' | 'other'])[] = [
  [9, 10, 'percentage'], [11, 13, 'other'], [14, 22, 'date'], [27, 36, 'date'], [45, 47, 'date'], [48, 48, 'other'],
  [50, 58, 'date'], [67, 68, 'percentage'], [69, 70, 'other'], [71, 81, 'date'],
]; // biome-ignore format: one table

/** Formats from this number on are the file's own. */
const FIRST_OWN = 164;

/** The format with a number and without a code. */
export function builtInFormat(id: number): NumberFormat {
  // The file does not say what its own format is.
  if (!(id < FIRST_OWN)) return allOf(OTHER);
  const found = BUILT_IN.find(([first, last]) => id >= first && id <= last);
  return found === undefined ? GENERAL : allOf({ kind: found[2] });
}

/** The format with a code such as `#,##0.00;[Red]-#,##0.00`. */
export function formatOf(code: string): NumberFormat {
  if (code.length > MAX_LENGTH) return allOf(OTHER);
  const reader = new CodeReader(code);
  const sections: Section[] = [];
  while (!reader.isAtEnd) sections.push(reader.section());
  const [positive = NUMBER, negative = positive, zero = positive] = sections;
  return reader.hasCondition ? allOf(OTHER) : { positive, negative, zero };
}

function allOf(section: Section): NumberFormat {
  return { positive: section, negative: section, zero: section };
}

/** The text that the parts show for a whole number from 0 on. */
export function shownText(parts: readonly Part[], value: number): string {
  let rest = value === 0 ? '' : String(value);
  let places = parts.filter(isPlace).length;
  let text = '';
  for (const part of parts.toReversed()) {
    if (!isPlace(part)) {
      text = part + text;
      continue;
    }
    places -= 1;
    // The first place takes all digits that are left.
    const cut = places === 0 ? 0 : Math.max(0, rest.length - 1);
    text = (rest.slice(cut) || part.fill) + text;
    rest = rest.slice(0, cut);
  }
  return text.trim();
}

/** Reads a code from left to right, each character once. */
class CodeReader {
  readonly #code: string;
  #at = 0;
  /** True where the number decides which section counts, or where digits are written in another script. */
  hasCondition = false;
  #parts: Part[] = [];
  /** What the section shows besides the digits of the whole number. */
  #found = new Set<'date' | 'percentage' | 'other' | 'decimals' | 'groups'>();
  /** A comma after a digit: it groups digits where another digit follows, else it scales. */
  #comma = false;

  constructor(code: string) {
    this.#code = code;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#code.length;
  }

  /** Reads up to the next semicolon. */
  section(): Section {
    this.#parts = [];
    this.#found = new Set();
    this.#comma = false;
    while (!this.isAtEnd) {
      const sign = this.#code[this.#at++]!;
      if (sign === ';') break;
      this.#read(sign);
    }
    if (this.#comma) this.#found.add('other');
    return sectionOf(this.#parts, this.#found);
  }

  #read(sign: string): void {
    if (sign === '0' || sign === '#' || sign === '?') this.#place(sign);
    else if (sign === '"') this.#parts.push(this.#until('"'));
    else if (sign === '[') this.#bracket(this.#until(']'));
    else if (sign === '\\') this.#parts.push(this.#code[this.#at++] ?? '');
    // The next character is as wide as a space, or fills the cell.
    else if (sign === '_' || sign === '*') this.#at += 1;
    else if (sign === '.') this.#found.add('decimals');
    else if (sign === '%') this.#found.add('percentage');
    else if (sign === ',' && this.#followsPlace()) this.#comma = true;
    else if (sign === '/' && this.#parts.some(isPlace)) this.#found.add('other');
    else this.#letter(sign);
  }

  #letter(sign: string): void {
    const rest = this.#code.slice(this.#at - 1);
    if (/^general/i.test(rest)) {
      this.#at += 'general'.length - 1;
      this.#place('0');
    } else if (sign === '@') this.#place('0');
    else if (/^E[+-]/.test(rest)) this.#found.add('other');
    else if (/[dmyhsbeg]/i.test(sign)) this.#found.add('date');
    else this.#parts.push(sign);
  }

  #followsPlace(): boolean {
    const last = this.#parts.findLast((part) => part !== '');
    return last !== undefined && isPlace(last);
  }

  #place(sign: '0' | '#' | '?'): void {
    if (this.#comma) this.#found.add('groups');
    this.#comma = false;
    if (!this.#found.has('decimals')) this.#parts.push(PLACES[sign]);
  }

  /** A currency and a language, a part of a duration, a condition or a colour. */
  #bracket(text: string): void {
    if (text.startsWith('$')) this.#parts.push(text.slice(1).split('-', 1)[0] ?? '');
    else if (/^(?:h+|m+|s+)$/i.test(text)) this.#found.add('date');
    else if (!/^\p{L}+ ?(?:[1-9]|[1-4]\d|5[0-6])?$/u.test(text) || /^(?:DBNum|NatNum)/i.test(text))
      this.hasCondition = true;
  }

  #until(end: string): string {
    const start = this.#at;
    const found = this.#code.indexOf(end, start);
    this.#at = found < 0 ? this.#code.length : found + 1;
    return this.#code.slice(start, found < 0 ? undefined : found);
  }
}

function sectionOf(parts: readonly Part[], found: ReadonlySet<string>): Section {
  for (const kind of ['date', 'percentage', 'other'] as const) if (found.has(kind)) return { kind };
  const [first, last] = [parts.findIndex(isPlace), parts.findLastIndex(isPlace)];
  const inside = textOf(parts.slice(first, last + 1));
  // Other words than those of a currency could change the size of an amount: `M`, `mil`, `K`.
  const currency = currencyOf(`${textOf(parts.slice(0, first))} ${textOf(parts.slice(last + 1))}`);
  if (first >= 0 && inside.trim() === '' && currency !== 'other') {
    const minDigits = parts.filter((part) => isPlace(part) && part.fill === '0').length;
    return { kind: 'number', minDigits, currency };
  }
  const isHidden = first < 0 && textOf(parts) === '';
  // Decimals and separators of thousands are shown in the form of the reader's country, which nobody knows here.
  const isKnown = !isHidden && !found.has('decimals') && !found.has('groups');
  return isKnown ? { kind: 'text', parts } : OTHER;
}

function isPlace(part: Part): part is DigitPlace {
  return typeof part !== 'string';
}

function textOf(parts: readonly Part[]): string {
  return parts.filter((part) => !isPlace(part)).join('');
}

// The value of a spreadsheet's cell with a number: the number, or what its format shows in the number's place.

/** Day 0 of Excel's count, for dates from March 1900 on. */
const EPOCH_1900_MS = Date.UTC(1899, 11, 30);
const EPOCH_1904_MS = Date.UTC(1904, 0, 1);
/** Written here, because the clock of the program is Node's. */
const DAY_MS = 86_400_000;

/** From here on, Excel cuts digits off. */
export const MAX_EXACT = 1e15;
/** Stands for a value in the file of rejected rows. Reading that file refuses the text in every field. */
export const UNKNOWN = '#?';

/** The cell with the text of a number in the XML, and with a format. */
export function numberCell(
  text: string,
  { positive, negative, zero }: NumberFormat,
  from1904: boolean,
): Cell {
  const value = Number(text);
  if (!Number.isFinite(value)) return new Unusable('error', UNKNOWN);
  const section = value > 0 ? positive : value < 0 ? negative : zero;
  const isWhole = value >= 0 && Number.isInteger(value) && value < MAX_EXACT;
  switch (section.kind) {
    case 'number': {
      const { minDigits, currency } = section;
      const shown = isWhole ? String(value).padStart(minDigits, '0') : String(value);
      if (currency === null && shown === String(value)) return value;
      return new ShownNumber(value, shown, true, currency);
    }
    case 'text':
      // No field takes a number below 0, however it is shown.
      if (value < 0) return value;
      if (isWhole) return new ShownNumber(value, shownText(section.parts, value), false);
      return new Unusable('other_form', `${UNKNOWN} ${value}`);
    case 'other':
      return new Unusable('other_form', `${UNKNOWN} ${value}`);
    case 'percentage':
      return new Unusable('percentage', `${value * 100}%`);
    case 'date':
      return new Unusable('date', dateText(value, from1904));
  }
}

function dateText(value: number, from1904: boolean): string {
  const time = new Date((from1904 ? EPOCH_1904_MS : EPOCH_1900_MS) + Math.round(value * DAY_MS));
  return Number.isNaN(time.getTime()) ? `${UNKNOWN} ${value}` : time.toISOString().slice(0, 10);
}
