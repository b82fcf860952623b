/**
 * Recognises what spreadsheets and programs for tables make of a value, or leave in its place: error words, words for
 * no value, formulas, dates, and numbers that they shortened or wrote with decimals. Texts are trimmed.
 */
import type { FileWords } from '../read/file-words.ts';
import { UNUSABLE } from '../read/table.ts';
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

const NO_VALUE_FAULT: FileWords = {
  en: 'it is an error of a spreadsheet or a word for no value, such as #N/A or nan: correct the cell or leave it empty',
  es: 'es un error de una hoja de cálculo o una palabra que significa sin valor, como #N/A o nan: corrige la celda o déjala vacía',
  pt: 'é um erro de uma planilha ou uma palavra que significa sem valor, como #N/A ou nan: corrija a célula ou deixe-a vazia',
};
const FORMULA_FAULT: FileWords = {
  en: 'it is a formula instead of its result',
  es: 'es una fórmula en lugar de su resultado',
  pt: 'é uma fórmula em vez do resultado',
};
const BOOLEAN_FAULT: FileWords = {
  en: 'it is a word for true or false, which this field does not take',
  es: 'es una palabra de verdadero o falso, que este campo no admite',
  pt: 'é uma palavra de verdadeiro ou falso, que este campo não admite',
};

/** The fault of a text that is no value of any field; null where it may be one. */
export function leftoverFault(text: string, takesBooleans: boolean): FileWords | null {
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

// Reads ID numbers and phones. They are digits, but no numbers, and a spreadsheet that takes them for numbers changes
// them. Where the meaning is certain, gives back the digits that were meant; otherwise gives a fault.

type Digits =
  /** `change` says what was left out or written out; null where the text stays as it is. */
  | { readonly kind: 'text'; readonly text: string; readonly change: DigitsChange | null }
  | { readonly kind: 'fault'; readonly text: FileWords };

export type DigitsChange =
  | 'decimals of zero left out'
  | 'exponent written out'
  | 'thousands separators'
  | 'apostrophe or invisible characters left out';

export const CUT_FAULT: FileWords = {
  en: 'a spreadsheet may have cut the number (more than 15 digits, an exponent, or only zeros at its end): format the column as text and type the whole number. If the zeros are right, put an apostrophe before the number in a CSV file',
  es: 'una hoja de cálculo pudo recortar el número (más de 15 dígitos, un exponente o solo ceros al final): da formato de texto a la columna y escribe el número completo. Si los ceros son correctos, pon un apóstrofo antes del número en un archivo CSV',
  pt: 'uma planilha pode ter cortado o número (mais de 15 dígitos, um expoente ou só zeros no fim): formate a coluna como texto e escreva o número inteiro. Se os zeros estão certos, ponha um apóstrofo antes do número em um arquivo CSV',
};
export const DECIMALS_FAULT: FileWords = {
  en: 'it is a number with decimals',
  es: 'es un número con decimales',
  pt: 'é um número com decimais',
};
const MONEY_FAULT: FileWords = {
  en: 'it is an amount or a percentage',
  es: 'es un monto o un porcentaje',
  pt: 'é um valor ou uma porcentagem',
};
export const NEGATIVE_FAULT: FileWords = {
  en: 'it is not above 0: a spreadsheet may have calculated it',
  es: 'no es mayor que 0: pudo calcularlo una hoja de cálculo',
  pt: 'não é maior que 0: uma planilha pode tê-lo calculado',
};
const SCRIPT_FAULT: FileWords = {
  en: 'it has digits of another script: write the digits 0 to 9',
  es: 'tiene dígitos de otra escritura: escribe los dígitos 0 a 9',
  pt: 'tem dígitos de outra escrita: escreva os dígitos 0 a 9',
};
const AMBIGUOUS_FAULT: FileWords = {
  en: 'the point or comma may separate thousands or decimals: write the digits alone',
  es: 'el punto o la coma pueden separar miles o decimales: escribe solo los dígitos',
  pt: 'o ponto ou a vírgula podem separar milhares ou decimais: escreva só os dígitos',
};

/** Excel keeps so many digits of a number. */
const KEPT_DIGITS = 15;
const PLUS = 0x2b;
const PLAIN = /^\+?\d+$/;
/** Bidi marks and characters without width, which a copy from a web page or a chat brings along. */
const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
/** An apostrophe keeps a spreadsheet from reading a number. */
const APOSTROPHE = /^['’](?=[+\d])/;
/** Digits of a full width, and of Arabic and other scripts. */
const OTHER_DIGIT = /[^\P{Nd}0-9]/u;
const MONEY = /[%\p{Sc}]/u;
const NEGATIVE = /^(?:[-−] ?[\d.,]|\([\d.,]+\)$)/;
const DECIMAL = /^(\+?\d+)[.,](\d+)$/;
/** A whole number with separators of thousands. Before decimals of zero stands another sign than between the groups. */
const GROUPED =
  /^(?:(\d{1,3}(?:,\d{3}){2,})(?:\.0+)?|(\d{1,3}(?:\.\d{3}){2,}),0+|(\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3}){2,})[.,]0+|(\d{1,3}(?:[\u00a0\u2009\u202f'’]\d{3})+)(?:[.,]0+)?)$/;
/** Decimals at the end: one or two digits behind a point or a comma that stands nowhere else between digits. */
const LAST_DECIMALS = /\d([.,])(?:\d{1,2}|0{5,})$/;
const SCIENTIFIC = /^(\+?\d)(?:[.,](\d+))?e(\+?\d{1,3})$/i;
/** An ID number may have the letter E between digits, so only a point or a sign makes an exponent. */
const OTHER_EXPONENT =
  /^\+?\d+(?:[.,]\d+ ?[ed] ?[-+]? ?|e[-+]|(?:[.,]\d+)? ?[x×·*] ?10(?: ?\^ ?|(?=[-+]))[-+]?)\d+$/i;

/** True for digits that need no reading. Most ID numbers and phones are such, and a pattern takes longer. */
export function isDigitsAlone(text: string): boolean {
  const start = text.charCodeAt(0) === PLUS ? 1 : 0;
  if (text.length <= start || text.length > KEPT_DIGITS) return false;
  for (let index = start; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < DIGIT_0 || unit > DIGIT_9) return false;
  }
  return true;
}

/** Reads a trimmed text. `leastDigits` is the least number of digits that the field takes. */
export function readDigits(text: string, leastDigits: number): Digits {
  if (PLAIN.test(text)) return isCutText(text) ? fault(CUT_FAULT) : same(text);
  const bare = text.replace(INVISIBLE, '').trim().replace(APOSTROPHE, '');
  if (bare === text) return readOther(text, leastDigits);
  const read = readDigits(bare, leastDigits);
  if (read.kind === 'fault' || read.change !== null) return read;
  return changed(bare, 'apostrophe or invisible characters left out');
}

/** True for the digits of a number that is, or was, shortened: a spreadsheet writes zeros for what it cuts. */
export function isCut(digits: string): boolean {
  return (
    digits.length > KEPT_DIGITS ||
    (digits.length >= 12 && digits.endsWith('0'.repeat(6))) ||
    (digits.length >= 10 && digits.endsWith('0'.repeat(7)))
  );
}

/**
 * True for a number with zeros at its end that stands bare in a text file. A spreadsheet that opened `5.73005E+11`
 * writes the same digits as one that opened the whole number.
 */
export function isCutBare(text: string): boolean {
  return text.endsWith('000000') && /^\d+$/.test(text) && isCut(text);
}

/** Only the digits from the sixteenth on show that a text was once a number. */
function isCutText(text: string): boolean {
  return text.length > KEPT_DIGITS && /^\d{15}0+$/.test(text);
}

function readOther(text: string, leastDigits: number): Digits {
  if (MONEY.test(text)) return fault(MONEY_FAULT);
  if (NEGATIVE.test(text)) return fault(NEGATIVE_FAULT);
  if (isDate(text)) return fault(UNUSABLE.date);
  const [, whole, decimals] = DECIMAL.exec(text) ?? [];
  if (whole !== undefined && decimals !== undefined) return readDecimal(text, whole, decimals, leastDigits);
  const grouped = GROUPED.exec(text)?.slice(1).find(Boolean);
  if (grouped !== undefined) return recognised(grouped.replace(/\D/g, ''), 'thousands separators');
  const [, first, rest = '', exponent] = SCIENTIFIC.exec(text) ?? [];
  if (first !== undefined) return writtenOut(first, rest, Number(exponent));
  if (OTHER_EXPONENT.test(text)) return fault(CUT_FAULT);
  if (OTHER_DIGIT.test(text)) return fault(SCRIPT_FAULT);
  return endsWithDecimals(text) ? fault(DECIMALS_FAULT) : same(text);
}

/** `57 3005550101.00`, `1.020.304,5`; not `300.555.01.01`. */
function endsWithDecimals(text: string): boolean {
  const found = LAST_DECIMALS.exec(text);
  return found !== null && !text.slice(0, found.index).includes(found[1] ?? '');
}

function readDecimal(text: string, whole: string, decimals: string, leastDigits: number): Digits {
  const digits = whole.replace('+', '').length;
  const isGroup = digits <= 3 && decimals.length === 3;
  if (/^0+$/.test(decimals)) {
    // `300.0000000` is rather a phone with a point than a number.
    if (isGroup || digits < leastDigits || (digits < 5 && decimals.length > 2)) return fault(AMBIGUOUS_FAULT);
    return Number(whole) === 0 ? fault(NEGATIVE_FAULT) : recognised(whole, 'decimals of zero left out');
  }
  if (isGroup) return text.includes(',') ? fault(AMBIGUOUS_FAULT) : same(text);
  // A phone may have a point: `300.5550101`, `2222.3333`.
  const isPhone = leastDigits > 1 && digits < 8 && decimals.length > 2 && text.includes('.');
  return isPhone ? same(text) : fault(DECIMALS_FAULT);
}

/** The digits of `d.ddde+dd` where all of them are there. */
function writtenOut(first: string, decimals: string, exponent: number): Digits {
  const digits = first + decimals.slice(0, exponent);
  const isWhole = /^0*$/.test(decimals.slice(exponent));
  return decimals.length >= exponent && isWhole
    ? recognised(digits, 'exponent written out')
    : fault(CUT_FAULT);
}

function recognised(digits: string, change: DigitsChange): Digits {
  return isCut(digits.replace('+', '')) ? fault(CUT_FAULT) : changed(digits, change);
}

function same(text: string): Digits {
  return { kind: 'text', text, change: null };
}

function changed(text: string, change: DigitsChange): Digits {
  return { kind: 'text', text, change };
}

function fault(text: FileWords): Digits {
  return { kind: 'fault', text };
}
