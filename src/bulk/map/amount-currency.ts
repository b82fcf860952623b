/**
 * The currency that stands beside an amount: `USD 1,500` in a text, or by the format of a spreadsheet's cell. Without
 * it, the service would take the amounts in the currency of the phone's country (D12).
 */
import { currencyOf, type NamedCurrency } from '../read/currency-words.ts';

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

/**
 * The parts of a text such as `USD 1,500` or `1.500 €`. Null where the text names no currency, as `$ 1500` does not.
 */
export function splitCurrency(text: string): { amount: string; currency: NamedCurrency } | null {
  const [, before = '', amount = '', after = ''] = BESIDE.exec(text) ?? [];
  const currency = currencyOf(`${before} ${after}`);
  return currency === null || currency === 'other' ? null : { amount, currency };
}

const CONTRADICTS = 'it names another currency than the field currency of the row: correct one of them';
const TWO = 'the amounts of the row name different currencies, and an application has one currency';
const REMEDY = "write the row's currency (such as COP) in a column named currency";
const ONE_ONLY = `it names a currency, and the other amount of the row names none: ${REMEDY}`;

/**
 * The code of the currency that a row is sent with, because its amounts name it; null where `own`, the value of the
 * row's currency field, stays. `named` has an entry for each amount of the row, null for one that names no currency,
 * and at least one other entry. A text is the fault of the amounts that name a currency.
 */
export function currencyOfAmounts(
  own: unknown,
  named: readonly (NamedCurrency | null)[],
): { readonly code: string | null } | { readonly fault: string } {
  const lists = named.flatMap((one) => (one === null ? [] : [one.codes]));
  if (own !== undefined) {
    const code = String(own).trim().toUpperCase();
    return lists.every((codes) => codes.includes(code)) ? { code: null } : { fault: CONTRADICTS };
  }
  const [first = [], ...rest] = lists;
  const [code, ...others] = first.filter((one) => rest.every((codes) => codes.includes(one)));
  if (code === undefined) return { fault: TWO };
  if (others.length > 0) return { fault: `its currency can be ${[code, ...others].join(' or ')}: ${REMEDY}` };
  return lists.length < named.length ? { fault: ONE_ONLY } : { code };
}
