/**
 * The currency that stands beside an amount: `USD 1,500` in a text, or by the format of a spreadsheet's cell. Without
 * it, the service would take the amounts in the currency of the phone's country (D12).
 */
import { currencyOfPhone } from '../../../../src/domain/money/currency.ts';
import { COUNTRY_CURRENCY, type Country } from '../../../../src/ground/base/country-data.ts';
import type { Words } from '../../../../src/ground/base/language.ts';
import { currencyOf, type NamedCurrency, PESO_OR_DOLLAR } from '../read/currency-words.ts';

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

const CONTRADICTS: Words = {
  en: 'it names another currency than the field currency of the row: correct one of them',
  es: 'nombra otra moneda que el campo currency de la fila: corrige una de las dos',
};
const TWO: Words = {
  en: 'the amounts of the row name different currencies, and an application has one currency',
  es: 'los montos de la fila nombran monedas distintas, y una solicitud tiene una sola',
};
const REMEDY: Words = {
  en: "write the row's currency (such as COP) in a column named currency",
  es: 'escribe la moneda de la fila (por ejemplo COP) en una columna llamada moneda',
};
const ONE_ONLY: Words = {
  en: `of the two amounts of the row only one names a currency: ${REMEDY.en}`,
  es: `de los dos montos de la fila, solo uno nombra una moneda: ${REMEDY.es}`,
};
/** The fault of `$` where nothing else tells the currency. */
export const SIGN_ALONE: Words = {
  en: `the sign $ may mean pesos or dollars: ${REMEDY.en}, or add --country with your partner's country (such as CO)`,
  es: `el signo $ puede ser pesos o dólares: ${REMEDY.es}, o agrega --country con el país de tu plataforma (por ejemplo CO)`,
};
const OTHER_SIGN: Words = {
  en: `the sign $ is not that of the currency of the phone's country: ${REMEDY.en}`,
  es: `el signo $ no es el de la moneda del país del teléfono: ${REMEDY.es}`,
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
): { readonly code: string | null } | { readonly fault: Words } {
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

function severalOf(codes: readonly string[]): Words {
  return {
    en: `its currency can be ${codes.join(' or ')}: ${REMEDY.en}`,
    es: `su moneda puede ser ${codes.join(' o ')}: ${REMEDY.es}`,
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
