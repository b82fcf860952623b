/**
 * The words of a file that no value is known for, and the options that would give them one. A meaning is offered, and
 * never taken by itself (D10): the person copies the option.
 */

import type { FieldName, NamedField } from '../../../../src/domain/application/fields.ts';
import { BulkError } from '../read/bulk-error.ts';
import type { FileWords } from '../read/file-words.ts';
import { BULK_FIELDS, fieldNamed, isQuotable, quoted } from './columns.ts';
import { foldWord } from './consent.ts';

/** A field with more different words has the wrong column: its values may be anything, and are not shown. */
const MOST_WORDS = 20;
const MOST_CHARACTERS = 40;
/** What a word of these fields does not have, and other values do: an ID number, a phone, an e-mail address. */
const PERSONAL = /\d{5}|(?:\d[ .-]?){7}|@/;

/** A word that has no value yet. */
export interface UnknownWord {
  readonly word: string;
  rows: number;
  readonly firstRow: number;
}

/** The unknown words of each field, by their folded forms. */
export class UnknownWords {
  readonly #byField = new Map<FieldName, Map<string, UnknownWord>>();
  readonly #hidden = new Set<FieldName>();

  /** Notes a value that the service does not know. */
  add(field: FieldName, value: unknown, row: number): void {
    if (this.#hidden.has(field)) return;
    const word = String(value)
      .replace(/\p{Cf}/gu, '')
      .replace(/\s+/g, ' ')
      .trim();
    const words = this.#byField.get(field) ?? new Map<string, UnknownWord>();
    this.#byField.set(field, words);
    const known = words.get(foldWord(word));
    if (known !== undefined) known.rows += 1;
    else words.set(foldWord(word), { word, rows: 1, firstRow: row });
    if (words.size > MOST_WORDS || word.length > MOST_CHARACTERS || PERSONAL.test(word))
      this.#hidden.add(field);
  }

  /** The fields with unknown words, in the contract's order; null in the place of words that are not shown. */
  get all(): readonly (readonly [field: FieldName, words: readonly UnknownWord[] | null])[] {
    return WORD_FIELDS.flatMap(({ name }) => {
      const words = this.#byField.get(name);
      if (words === undefined) return [];
      return [[name, this.#hidden.has(name) ? null : [...words.values()]] as const];
    });
  }
}

/**
 * The options that give the words of a field a value, to be copied. `VALUE` stands where nobody knows the value. Words
 * that no quotes keep whole have none.
 */
export function optionsFor(field: FieldName, words: readonly UnknownWord[]): string[] {
  const meant = words
    .filter(({ word }) => isQuotable(word))
    .map(({ word }) => ({ word, value: meaningOf(field, word) }));
  // A comma and a slash have a meaning of their own in --consent-values.
  const isConsent = ({ word, value }: (typeof meant)[number]) =>
    field === 'messaging_optin' && value !== null && !/[,/]/.test(word);
  const said = (value: string) =>
    meant.flatMap((one) => (isConsent(one) && one.value === value ? [one.word.toLowerCase()] : []));
  return [
    ...(meant.some(isConsent) ? [consentOption(said('true'), said('false'))] : []),
    ...meant
      .filter((one) => !isConsent(one))
      .map(({ word, value }) => `--map ${quoted(`${field}:${word}=${value ?? 'VALUE'}`)}`),
  ];
}

/** The option has words on both sides: the usual one where the file has none. */
function consentOption(yes: readonly string[], no: readonly string[]): string {
  const [left, right] = [yes.length > 0 ? yes : ['sí'], no.length > 0 ? no : ['no']];
  return `--consent-values ${quoted(`${left.join(',')}/${right.join(',')}`)}`;
}

const YES =
  /^(?:s|si|sim|y|yes|x|1|ok|true|verdadero|(?:si )?(?:acept|autoriz|aceita|tiene|tem |con |com )[a-z ]*)$/;
const NO = /^(?:n|no|nao|0|false|falso|ningun[oa]?|nunca|(?:no|nao|sin|sem|nunca) [a-z ]*)$/;

/** The value that a word most likely means; null where nobody can tell. */
function meaningOf(field: FieldName, word: string): string | null {
  const folded = foldWord(word);
  if (field === 'num_debts') return debtsOf(folded);
  if (field === 'debt_age') return ageOf(folded);
  const [yes, no] = field === 'messaging_optin' ? ['true', 'false'] : ['yes', 'no'];
  return NO.test(folded) ? no : YES.test(folded) ? yes : null;
}

/** Numbers as words, in Spanish and Portuguese. */
const NUMBERS: Readonly<Record<string, number>> = { un: 1, una: 1, uno: 1, um: 1, uma: 1, dos: 2, dois: 2, duas: 2, tres: 3, seis: 6, doce: 12, doze: 12 }; // biome-ignore format: one table
const NUMBER = new RegExp(`(?<![a-z])(?:${Object.keys(NUMBERS).join('|')})(?![a-z])|\\d+`, 'g');
const OR_MORE = /\+$|\b(?:o|ou|or) (?:mas|mais|more)$/;

function numbersIn(folded: string): number[] {
  return Array.from(folded.matchAll(NUMBER), ([text]) => NUMBERS[text] ?? Number(text));
}

/** `una`, `2 deudas`, `3 o más`. More than three is no value of the field. */
function debtsOf(folded: string): string | null {
  const [count, ...others] = numbersIn(folded);
  if (count === undefined || others.length > 0 || LESS.test(folded) || MORE.test(folded)) return null;
  if (count < 1 || count > 3) return null;
  return OR_MORE.test(folded) && count !== 3 ? null : String(count);
}

const LESS = /^(?:<|menos|menor|hasta|ate\b|less|under|up to|inferior)/;
const MORE = /^(?:>|\+|mas\b|mais\b|mayor|maior|more|over|desde|superior)/;
const YEARS = /(?<![a-z])(?:anos?|years?)(?![a-z])/;
const MONTHS = /(?<![a-z])(?:m|mes|meses|months?)(?![a-z])/;

/** `Más de 2 años`, `6 a 12 meses`, `< 6 meses`: the span in months, where it lies within one value. */
function ageOf(folded: string): string | null {
  const [first, second, ...others] = numbersIn(folded);
  const [inYears, inMonths] = [YEARS.test(folded), MONTHS.test(folded)];
  if (first === undefined || others.length > 0 || !(inYears || inMonths)) return null;
  // `6 meses a 1 año`
  const isMixed = inYears && inMonths;
  if (isMixed && second === undefined) return null;
  const low = first * (inYears && !isMixed ? 12 : 1);
  if (second !== undefined) return valueOfSpan(low, second * (inYears ? 12 : 1));
  if (LESS.test(folded)) return valueOfSpan(0, low);
  if (MORE.test(folded) || OR_MORE.test(folded)) return valueOfSpan(low, Number.POSITIVE_INFINITY);
  // At a border of two values nobody knows which one is meant.
  return low % 12 === 0 ? null : valueOfSpan(low, low);
}

/** The value whose span has all months from `low` to `high`; null where there is none. */
function valueOfSpan(low: number, high: number): string | null {
  if (low > high) return null;
  if (low < 6 && high <= 6) return 'lt6';
  if (low >= 6 && high <= 12) return '6a12';
  if (low >= 12 && high <= 24) return '1a2';
  return low >= 24 ? 'gt2' : null;
}

// Reads what `--map field:word=value` says of the words in a file. Other words are never guessed (D10).

/** The value of each word, by field. The words have the form of `foldWord`. */
export type ValueWords = ReadonlyMap<FieldName, ReadonlyMap<string, string | boolean>>;

/** The fields whose words can be mapped, with the values that a word can get. */
export const WORD_FIELDS: readonly { readonly name: FieldName; readonly values: readonly string[] }[] =
  BULK_FIELDS.map((field) => ({ name: field.name, values: allowedValues(field) })).filter(
    ({ values }) => values.length > 0,
  );

/** True for `field:word=value`, false for `field=Column`. */
export function isValueMap(text: string): boolean {
  return /^[^=]*:/.test(text);
}

/** Reads texts such as `debt_age:Más de 2 años=gt2`. The last `=` counts, because a word may have one. */
export function readValueMaps(texts: readonly string[]): ValueWords {
  const values = new Map<FieldName, Map<string, string | boolean>>();
  for (const text of texts) {
    const [, name = '', word = '', meaning = ''] = /^([^:]*):(.*)=([^=]*)$/s.exec(text) ?? [];
    const folded = foldWord(word);
    const refusal = ({ en, es, pt }: FileWords) =>
      new BulkError({ en: `--map ${text}: ${en}`, es: `--map ${text}: ${es}`, pt: `--map ${text}: ${pt}` });
    if (folded === '')
      throw refusal({
        en: 'write it as field:word=value',
        es: 'escríbelo como campo:palabra=valor',
        pt: 'escreva-o como campo:palavra=valor',
      });
    const field = fieldNamed(name, BULK_FIELDS);
    const allowed = field === null ? [] : allowedValues(field);
    if (field === null || allowed.length === 0) {
      const names = WORD_FIELDS.map((one) => one.name).join(', ');
      throw refusal({
        en: `words can be mapped for these fields: ${names}`,
        es: `se pueden asignar palabras en estos campos: ${names}`,
        pt: `palavras podem ser atribuídas nestes campos: ${names}`,
      });
    }
    const value = allowed.find((one) => one === meaning.trim().toLowerCase());
    if (value === undefined) {
      throw refusal({
        en: `the value after = must be one of: ${allowed.join(', ')}`,
        es: `el valor después de = debe ser uno de: ${allowed.join(', ')}`,
        pt: `o valor depois de = deve ser um de: ${allowed.join(', ')}`,
      });
    }
    const words = values.get(field.name) ?? new Map<string, string | boolean>();
    const meant = field.rule.kind === 'consent' ? value === 'true' : value;
    if ((words.get(folded) ?? meant) !== meant)
      throw refusal({
        en: 'the word has two values',
        es: 'la palabra tiene dos valores',
        pt: 'a palavra tem dois valores',
      });
    values.set(field.name, words.set(folded, meant));
  }
  return values;
}

function allowedValues({ rule }: NamedField): readonly string[] {
  if (rule.kind === 'choice') return rule.values;
  return rule.kind === 'consent' ? ['true', 'false'] : [];
}
