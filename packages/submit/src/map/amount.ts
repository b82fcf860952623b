/** Reads amounts as people type them. A text that could be two different numbers is never taken for one of them. */

/** The sign between the whole number and its fraction. */
export const DECIMALS = ['comma', 'point'] as const;
export type Decimal = (typeof DECIMALS)[number];

export type Amount =
  /** `text` has the interface's form (`1500000.50`). `change` says what was converted; null where nothing was. */
  | { readonly kind: 'number'; readonly text: string; readonly change: AmountChange | null }
  /** `1.500` and `1,500`: one and a half, or fifteen hundred. */
  | { readonly kind: 'ambiguous' }
  /** A spreadsheet shortened the number: `3,2E+06` may be 3,215,000. */
  | { readonly kind: 'cut' }
  /** Not an amount in a known form. The service decides on the text. */
  | { readonly kind: 'other' };

type AmountChange = 'decimal comma' | 'thousands separators';

const AS_IT_IS = /^\d+([eE][+-]?\d+|\.\d+[eE][+-]?\d+)?$/;
/**
 * A number with an exponent, as programs write it that leave out digits: spreadsheets with `E+` (`3,2E+06`, and
 * `320E+4` by a format), and `%g` of C with five decimals and `e+`. R, Java and Python write `3.2e+06` or `3.2E6`, and
 * leave out no digit.
 */
const SHORTENED = /^(?:\d+(?:[.,](\d+))?E\+(\d{1,2})|\d[.,](\d{5})e\+(\d\d))$/;
const LETTERS_E = 'Ee';
const SPACED = /^\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?$/;
const POINTS_THEN_COMMA = /^\d{1,3}(?:\.\d{3})+,\d+$/;
const COMMAS_THEN_POINT = /^\d{1,3}(?:,\d{3})+\.\d+$/;
const GROUPED = /^\d{1,3}(?:(?:\.\d{3}){2,}|(?:,\d{3}){2,})$/;
const ONE_SEPARATOR = /^(\d+)([.,])(\d+)$/;
/** With such a beginning, three digits after the sign can also be thousands. */
const FIRST_GROUP = /^[1-9]\d{0,2}$/;

/** Reads a trimmed text. `decimal` decides ambiguous amounts only. */
export function readAmount(text: string, decimal: Decimal | null): Amount {
  if (isShortened(text)) return { kind: 'cut' };
  if (AS_IT_IS.test(text)) return { kind: 'number', text, change: null };
  if (SPACED.test(text)) return thousands(text.replace(/[^\d.,]/g, '').replace(',', '.'));
  if (POINTS_THEN_COMMA.test(text)) return thousands(text.replaceAll('.', '').replace(',', '.'));
  if (COMMAS_THEN_POINT.test(text)) return thousands(text.replaceAll(',', ''));
  if (GROUPED.test(text)) return thousands(text.replace(/[.,]/g, ''));
  const [, whole = '', sign, rest = ''] = ONE_SEPARATOR.exec(text) ?? [];
  if (sign === undefined) return { kind: 'other' };
  if (rest.length === 3 && FIRST_GROUP.test(whole)) {
    if (decimal === null) return { kind: 'ambiguous' };
    if (sign !== (decimal === 'comma' ? ',' : '.')) return thousands(`${whole}${rest}`);
  }
  return { kind: 'number', text: `${whole}.${rest}`, change: sign === ',' ? 'decimal comma' : null };
}

/** True where the number has fewer decimals than its exponent has places: the digits behind them may be lost. */
function isShortened(text: string): boolean {
  if (!LETTERS_E.includes(text.at(-4) ?? '-') && !LETTERS_E.includes(text.at(-3) ?? '-')) return false;
  const [, digits, exponent, five, places] = SHORTENED.exec(text) ?? [];
  if (five !== undefined) return five.length < Number(places);
  return exponent !== undefined && (digits?.length ?? 0) < Number(exponent);
}

function thousands(text: string): Amount {
  return { kind: 'number', text, change: 'thousands separators' };
}
