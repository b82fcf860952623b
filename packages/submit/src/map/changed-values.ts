/**
 * Recognises what spreadsheets and programs for tables leave in the place of a value: error words, words for no value,
 * formulas, dates, and numbers that they shortened or wrote with decimals. Texts are trimmed.
 */
import type { Words } from '../../../../src/ground/base/language.ts';
import { TRUE_AND_FALSE } from './consent.ts';

/** What pandas, R, SQL and JavaScript write for no value, and Google Sheets for one that is not there yet. */
const NO_VALUE = new Set([
  'nan', '-nan', 'nat', 'none', 'null', '(null)', '\\n', 'na', 'n/a', '<na>', 'undefined', 'inf', '-inf', 'infinity',
  '-infinity', '[object object]', 'loading...', 'cargando...', 'carregando...',
]); // biome-ignore format: one list
/** Excel and Google Sheets in any language: `#N/A`, `#¡REF!`, `#NOM?`, `########`. A number may follow a `#`. */
const HASH = 0x23;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const EQUALS = 0x3d;
const ERROR = /^#(?! ?\d)/;
/** LibreOffice in any of our languages. */
const NUMBERED_ERROR = /^(?:err|erro|error|fehler) ?: ?\d{3}$/i;
const LONGEST_WORD = 15;
/** By the first character, a bit for each length of such a text. Nearly all values fit none, and are not read. */
const LENGTHS = new Int32Array(128);
for (const word of [...NO_VALUE, ...TRUE_AND_FALSE.keys()]) addLength(word, word.length);
for (const [name, most] of [
  ['err', 10],
  ['fehler', 12],
] as const)
  for (let length = name.length + 4; length <= most; length += 1) addLength(name, length);

function addLength(word: string, length: number): void {
  for (const first of [word, word.toUpperCase()]) LENGTHS[first.charCodeAt(0)]! |= 1 << length;
}

const NO_VALUE_FAULT: Words = {
  en: 'it is an error of a spreadsheet or a word for no value, such as #N/A or nan: correct the cell or leave it empty',
  es: 'es un error de una hoja de cálculo o una palabra que significa sin valor, como #N/A o nan: corrige la celda o déjala vacía',
};
const FORMULA_FAULT: Words = {
  en: 'it is a formula instead of its result',
  es: 'es una fórmula en lugar de su resultado',
};
const BOOLEAN_FAULT: Words = {
  en: 'it is a word for true or false, which this field does not take',
  es: 'es una palabra de verdadero o falso, que este campo no admite',
};

/** The fault of a text that is no value of any field; null where it may be one. */
export function leftoverFault(text: string, takesBooleans: boolean): Words | null {
  const first = text.charCodeAt(0);
  if (first === EQUALS) return FORMULA_FAULT;
  if (first === HASH) return ERROR.test(text) ? NO_VALUE_FAULT : null;
  if (text.length > LONGEST_WORD || (LENGTHS[first & 0x7f]! & (1 << text.length)) === 0) return null;
  const word = text.toLowerCase();
  if (NO_VALUE.has(word) || NUMBERED_ERROR.test(word)) return NO_VALUE_FAULT;
  return !takesBooleans && TRUE_AND_FALSE.has(word) ? BOOLEAN_FAULT : null;
}

/** A text in a formula, `="0012"`, by which some programs keep a spreadsheet from changing it. */
const TEXT_FORMULA = /^="([^"]*)"$/;

/** The text inside a formula that is nothing but a text; null where the text is no such formula. */
export function textOfFormula(text: string): string | null {
  return text.startsWith('="') ? (TEXT_FORMULA.exec(text)?.[1] ?? null) : null;
}

const LETTER = /\p{L}/u;
const EXPONENT = /^[-+]?\d+(?:[.,]\d+)?e[-+]?\d+$/i;

/** True for a number or a date where words are asked. */
export function isNumberOrDate(text: string): boolean {
  return hasDigit(text) && (!LETTER.test(text) || EXPONENT.test(text) || isDate(text));
}

/** A loop, because it takes a third of a pattern's time, and every row has two such texts. */
function hasDigit(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= DIGIT_0 && unit <= DIGIT_9) return true;
  }
  return false;
}

const MONTH = 'ene|jan|feb|fev|mar|abr|apr|may|mai|jun|jul|ago|aug|set|sept?|oct|out|nov|dic|dez|dec';
const TIME = '(?:[T ]\\d{1,2}:\\d{2}.{0,20})?';
const YEAR_FIRST = new RegExp(`^(?:19|20)\\d{2}([-/.])(\\d{1,2})\\1(\\d{1,2})${TIME}$`);
const YEAR_LAST = new RegExp(`^(\\d{1,2})([-/.])(\\d{1,2})\\2(?:19|20)\\d{2}${TIME}$`);
const SLASHES = new RegExp(`^(\\d{1,2})\\/(\\d{1,2})(?:\\/\\d{2}${TIME})?$`);
const SHORT_YEAR = new RegExp(`^(\\d{2})([-.])(\\d{2})\\2\\d{2}${TIME}$`);
/** `5 de enero de 2024`, `viernes, 5 ene 2024`, `January 5, 2024`. Without a year it may be a city: `25 de Mayo`. */
const LONG = new RegExp(
  `^(?:[\\p{L}]{3,13}\\.?,? )?(?:\\d{1,2}(?:[-/. ]| de )(?:${MONTH})\\p{L}{0,7}\\.?|(?:${MONTH})\\p{L}{0,7}\\.? \\d{1,2})` +
    `(?:,? |[-/.]| del? )(?:19|20)\\d{2}${TIME}$`,
  'iu',
);
const WITH_MONTH = new RegExp(
  `^(?:\\d{1,2}[-/.](?:${MONTH})\\.?(?:[-/. ]\\d{2,4})?|(?:${MONTH})\\.?[-/. ]\\d{2,4})$`,
  'i',
);
const CLOCK = /^\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?: ?[ap]\.? ?m\.?)?$/i;

/** True for a date or a time of day in the forms in which spreadsheets write them. */
export function isDate(text: string): boolean {
  // No form is longer.
  if (text.length > 56) return false;
  const [, , month, day] = YEAR_FIRST.exec(text) ?? [];
  if (isDayAndMonth(day, month)) return true;
  const [, first, , second] = YEAR_LAST.exec(text) ?? [];
  if (isDayAndMonth(first, second)) return true;
  const [, left, right] = SLASHES.exec(text) ?? [];
  const [, one, , other] = SHORT_YEAR.exec(text) ?? [];
  if (isDayAndMonth(left, right) || isDayAndMonth(one, other)) return true;
  return WITH_MONTH.test(text) || LONG.test(text) || CLOCK.test(text);
}

/** In either order. */
function isDayAndMonth(one: string | undefined, other: string | undefined): boolean {
  const [low, high] = [Number(one), Number(other)].sort((a, b) => a - b);
  return low !== undefined && high !== undefined && low >= 1 && low <= 12 && high <= 31;
}
