/**
 * Recognises what spreadsheets and programs for tables leave in the place of a value: error words, words for no value,
 * formulas, dates, and numbers that they shortened or wrote with decimals. Texts are trimmed.
 */
import { TRUE_AND_FALSE } from './consent.ts';

/** What pandas, R, SQL and JavaScript write for no value, and Google Sheets for one that is not there yet. */
const NO_VALUE = new Set([
  'nan', '-nan', 'nat', 'none', 'null', '(null)', '\\n', 'na', 'n/a', '<na>', 'undefined', 'inf', '-inf', 'infinity',
  '-infinity', '[object object]', 'loading...', 'cargando...', 'carregando...',
]); // biome-ignore format: one list
const LONGEST_WORD = Math.max(...[...NO_VALUE, ...TRUE_AND_FALSE.keys()].map((word) => word.length));
/** Excel and Google Sheets in any language: `#N/A`, `#¡REF!`, `#NOM?`, `########`. A number may follow a `#`. */
const ERROR = /^#(?! ?\d)/;
/** LibreOffice in any of our languages. */
const NUMBERED_ERROR = /^(?:err|erro|error|fehler) ?: ?\d{3}$/i;
/** The first characters of all these texts. Most values begin with another one, and are not looked at further. */
const FIRST = new Set(
  [...NO_VALUE, ...TRUE_AND_FALSE.keys(), '#', '=', 'err', 'fehler']
    .flatMap((word) => [word.charCodeAt(0), word.toUpperCase().charCodeAt(0)]),
); // biome-ignore format: one list
const IS_FIRST = Array.from({ length: 128 }, (_, code) => FIRST.has(code));

export const NO_VALUE_FAULT =
  'it is an error of a spreadsheet or a word for no value, such as #N/A or nan: correct the cell or leave it empty';
const FORMULA_FAULT = 'it is a formula instead of its result';
const BOOLEAN_FAULT = 'it is a word for true or false, which this field does not take';

/** The fault of a text that is no value of any field; null where it may be one. */
export function leftoverFault(text: string, takesBooleans: boolean): string | null {
  if (IS_FIRST[text.charCodeAt(0)] !== true) return null;
  if (text.startsWith('=')) return FORMULA_FAULT;
  if (ERROR.test(text)) return NO_VALUE_FAULT;
  if (text.length > LONGEST_WORD) return null;
  const word = text.toLowerCase();
  if (NO_VALUE.has(word) || NUMBERED_ERROR.test(word)) return NO_VALUE_FAULT;
  return !takesBooleans && TRUE_AND_FALSE.has(word) ? BOOLEAN_FAULT : null;
}

/** A text in a formula, `="0012"`, by which some programs keep a spreadsheet from changing it. */
const TEXT_FORMULA = /^="([^"]*)"$/;

/** The text that a formula holds and is nothing else; null where the text is no such formula. */
export function textOfFormula(text: string): string | null {
  return text.startsWith('="') ? (TEXT_FORMULA.exec(text)?.[1] ?? null) : null;
}

const DIGIT = /\d/;
const LETTER = /\p{L}/u;
const EXPONENT = /^[-+]?\d+(?:[.,]\d+)?e[-+]?\d+$/i;

/** True for a number or a date where words are asked. */
export function isNumberOrDate(text: string): boolean {
  return DIGIT.test(text) && (!LETTER.test(text) || EXPONENT.test(text) || isDate(text));
}

const MONTH = 'ene|jan|feb|fev|mar|abr|apr|may|mai|jun|jul|ago|aug|set|sept?|oct|out|nov|dic|dez|dec';
const TIME = '(?:[T ]\\d{1,2}:\\d{2}.{0,20})?';
const YEAR_FIRST = new RegExp(`^(?:19|20)\\d{2}([-/.])(\\d{1,2})\\1(\\d{1,2})${TIME}$`);
const YEAR_LAST = new RegExp(`^(\\d{1,2})([-/.])(\\d{1,2})\\2(?:19|20)\\d{2}${TIME}$`);
const SLASHES = /^(\d{1,2})\/(\d{1,2})(?:\/\d{2})?$/;
const WITH_MONTH = new RegExp(
  `^(?:\\d{1,2}[-/.](?:${MONTH})\\.?(?:[-/. ]\\d{2,4})?|(?:${MONTH})\\.?[-/. ]\\d{2,4})$`,
  'i',
);
const CLOCK = /^\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?: ?[ap]\.? ?m\.?)?$/i;

/** True for a date or a time of day in the forms in which spreadsheets write them. */
export function isDate(text: string): boolean {
  // No form is longer.
  if (text.length > 36) return false;
  const [, , month, day] = YEAR_FIRST.exec(text) ?? [];
  if (isDayAndMonth(day, month)) return true;
  const [, first, , second] = YEAR_LAST.exec(text) ?? [];
  if (isDayAndMonth(first, second)) return true;
  const [, left, right] = SLASHES.exec(text) ?? [];
  return isDayAndMonth(left, right) || WITH_MONTH.test(text) || CLOCK.test(text);
}

/** In either order. */
function isDayAndMonth(one: string | undefined, other: string | undefined): boolean {
  const [low, high] = [Number(one), Number(other)].sort((a, b) => a - b);
  return low !== undefined && high !== undefined && low >= 1 && low <= 12 && high <= 31;
}
