/**
 * Reads amounts as people type them, and the currency that stands beside one. A text that could be two different
 * numbers is never taken for one of them.
 */
import { currencyOfPhone } from '../../../../src/domain/money/currency.ts';
import { COUNTRY_CURRENCY, type Country } from '../../../../src/ground/base/country-data.ts';
import { currencyOf, type NamedCurrency, PESO_OR_DOLLAR } from '../read/currency-words.ts';
import type { FileWords } from '../read/file-words.ts';

/** The sign between the whole number and its fraction. */
export const DECIMALS = ['comma', 'point'] as const;
export type Decimal = (typeof DECIMALS)[number];

type Amount =
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

// The currency that stands beside an amount: `USD 1,500` in a text, or by the format of a spreadsheet's cell. Without
// it, the service would take the amounts in the currency of the phone's country (D12).

/** An amount whose cell names a currency. */
export class AmountInCurrency {
  readonly value: number;
  readonly currency: NamedCurrency;
  constructor(value: number, currency: NamedCurrency) {
    this.value = value;
    this.currency = currency;
  }
}

const BESIDE = /^(\D*)(\d(?:.*\d)?)(\D*)$/s;

/** The parts of a text such as `USD 1,500`, `1.500 €` or `$ 1.500`. Null where the text names no currency. */
export function splitCurrency(text: string): { amount: string; currency: NamedCurrency } | null {
  const [, before = '', amount = '', after = ''] = BESIDE.exec(text) ?? [];
  const currency = currencyOf(`${before} ${after}`);
  return currency === null || currency === 'other' ? null : { amount, currency };
}

const CONTRADICTS: FileWords = {
  en: 'it names another currency than the field currency of the row: correct one of them',
  es: 'nombra otra moneda que el campo currency de la fila: corrige una de las dos',
  pt: 'indica outra moeda que o campo currency da linha: corrija uma das duas',
};
const TWO: FileWords = {
  en: 'the amounts of the row name different currencies, and an application has one currency',
  es: 'los montos de la fila nombran monedas distintas, y una solicitud tiene una sola',
  pt: 'os valores da linha indicam moedas diferentes, e uma solicitação tem uma só',
};
const REMEDY: FileWords = {
  en: "write the row's currency (such as COP) in a column named currency",
  es: 'escribe la moneda de la fila (por ejemplo COP) en una columna llamada moneda',
  pt: 'escreva a moeda da linha (por exemplo BRL) em uma coluna chamada moeda',
};
const ONE_ONLY: FileWords = {
  en: `of the two amounts of the row only one names a currency: ${REMEDY.en}`,
  es: `de los dos montos de la fila, solo uno nombra una moneda: ${REMEDY.es}`,
  pt: `dos dois valores da linha, só um indica uma moeda: ${REMEDY.pt}`,
};
/** The fault of `$` where nothing else tells the currency: the country of the partner would. */
const SIGN_ALONE: FileWords = {
  en: `the sign $ may mean pesos or dollars: ${REMEDY.en}, or add --country with your partner's country (such as CO)`,
  es: `el signo $ puede ser pesos o dólares: ${REMEDY.es}, o agrega --country con el país de tu plataforma (por ejemplo CO)`,
  pt: `o sinal $ pode ser pesos ou dólares: ${REMEDY.pt}, ou acrescente --country com o país da sua plataforma (por exemplo CO)`,
};
const OTHER_SIGN: FileWords = {
  en: `the sign $ is not that of the currency of the phone's country: ${REMEDY.en}`,
  es: `el signo $ no es el de la moneda del país del teléfono: ${REMEDY.es}`,
  pt: `o sinal $ não é o da moeda do país do telefone: ${REMEDY.pt}`,
};

/**
 * The code of the currency that a row is sent with, because its amounts name it; null where `own`, the value of the
 * row's currency field, stays. `named` has an entry for each amount of the row, null for one that names no currency,
 * and at least one other entry. `usual` is the currency that the service would take; null where nobody knows it. A text
 * is the fault of the amounts that name a currency.
 */
export function currencyOfAmounts(
  own: unknown,
  named: readonly (NamedCurrency | null)[],
  usual: string | null,
): { readonly code: string | null } | { readonly fault: FileWords } {
  const lists = named.flatMap((one) => (one === null ? [] : [one.codes]));
  if (own !== undefined) {
    const code = String(own).trim().toUpperCase();
    return lists.every((codes) => codes.includes(code)) ? { code: null } : { fault: CONTRADICTS };
  }
  const signs = lists.filter((codes) => codes === PESO_OR_DOLLAR.codes).length;
  if (signs === lists.length) {
    if (usual === null) return { fault: SIGN_ALONE };
    return PESO_OR_DOLLAR.codes.includes(usual) ? { code: usual } : { fault: OTHER_SIGN };
  }
  // Beside `USD 300`, the dollar of `$ 3,000,000` may be a peso.
  if (signs > 0) return { fault: ONE_ONLY };
  const [first = [], ...rest] = lists;
  const [code, ...others] = first.filter((one) => rest.every((codes) => codes.includes(one)));
  if (code === undefined) return { fault: TWO };
  if (others.length > 0) return { fault: severalOf([code, ...others]) };
  return lists.length < named.length ? { fault: ONE_ONLY } : { code };
}

function severalOf(codes: readonly string[]): FileWords {
  return {
    en: `its currency can be ${codes.join(' or ')}: ${REMEDY.en}`,
    es: `su moneda puede ser ${codes.join(' o ')}: ${REMEDY.es}`,
    pt: `a moeda pode ser ${codes.join(' ou ')}: ${REMEDY.pt}`,
  };
}

/**
 * The currency that the service takes for the amounts of a row that names none (D12), as far as the row and `country`,
 * the partner's, tell it for sure; else null. A phone without country code may be read in another country (D11).
 */
export function usualCurrency(phone: unknown, country: Country | null): string | null {
  const text = typeof phone === 'string' ? phone.trim() : '';
  const [, digits] = /^(?:\+|00)(.*)$/s.exec(text) ?? [];
  if (digits === undefined) return country === null ? null : COUNTRY_CURRENCY[country];
  return currencyOfPhone(`+${digits.replace(/\D/g, '')}`);
}
