/**
 * Reads ID numbers and phones. They are digits, but no numbers, and a spreadsheet that takes them for numbers changes
 * them. Where the meaning is certain, gives back the digits that were meant; otherwise gives a fault.
 */
import type { Words } from '../../../../src/ground/base/language.ts';
import { UNUSABLE } from '../read/table.ts';
import { isDate } from './changed-values.ts';

type Digits =
  /** `change` says what was left out or written out; null where the text stays as it is. */
  | { readonly kind: 'text'; readonly text: string; readonly change: DigitsChange | null }
  | { readonly kind: 'fault'; readonly text: Words };

export type DigitsChange =
  | 'decimals of zero left out'
  | 'exponent written out'
  | 'thousands separators'
  | 'apostrophe or invisible characters left out';

export const CUT_FAULT: Words = {
  en: 'a spreadsheet may have cut the number (more than 15 digits, an exponent, or only zeros at its end): format the column as text and type the whole number. If the zeros are right, put an apostrophe before the number in a CSV file',
  es: 'una hoja de cálculo pudo recortar el número (más de 15 dígitos, un exponente o solo ceros al final): da formato de texto a la columna y escribe el número completo. Si los ceros son correctos, pon un apóstrofo antes del número en un archivo CSV',
};
export const DECIMALS_FAULT: Words = { en: 'it is a number with decimals', es: 'es un número con decimales' };
const MONEY_FAULT: Words = { en: 'it is an amount or a percentage', es: 'es un monto o un porcentaje' };
export const NEGATIVE_FAULT: Words = {
  en: 'it is not above 0: a spreadsheet may have calculated it',
  es: 'no es mayor que 0: pudo calcularlo una hoja de cálculo',
};
const SCRIPT_FAULT: Words = {
  en: 'it has digits of another script: write the digits 0 to 9',
  es: 'tiene dígitos de otra escritura: escribe los dígitos 0 a 9',
};
const AMBIGUOUS_FAULT: Words = {
  en: 'the point or comma may separate thousands or decimals: write the digits alone',
  es: 'el punto o la coma pueden separar miles o decimales: escribe solo los dígitos',
};

/** Excel keeps so many digits of a number. */
const KEPT_DIGITS = 15;
const PLUS = 0x2b;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
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

function fault(text: Words): Digits {
  return { kind: 'fault', text };
}
