/**
 * The numbers that a policy needs for each decision and that are computed once, exactly, when its version is added: the
 * factors of the annuity and the limits in each currency (D27, D29, D51). They are stored as text, so that a decision
 * is equal bit for bit on another engine and in another year: afterwards a decision takes only `*`, `/` and comparisons
 * of doubles, whose results IEEE 754 fixes. Pure.
 */
import { CURRENCIES, type Currency } from '../../ground/base/country-data.ts';
import { keysOf } from '../../ground/base/keys-of.ts';
import { type Decimal, power, readDecimal, writeDecimal } from '../money/decimal.ts';
import type { Limit, PolicyDocument, ReferenceInstallment } from './document.ts';

/** Decimals in text. `Number` makes each of them the double that is nearest to it. */
export interface Constants {
  /** The level monthly payment of one unit of debt (annuity; D27). Currencies alone that have terms of their own. */
  readonly factor: string;
  readonly factors: Readonly<Partial<Record<Currency, string>>>;
  /** The highest amount in each currency, by the id of the limit. Limits of the amount alone. */
  readonly amounts: Readonly<Record<string, Readonly<Record<Currency, string>>>>;
}

/** The constants of a document that is checked. */
export function constantsOf({ reference_installment: terms, limits, rates }: PolicyDocument): Constants {
  const own = Object.entries(terms.by_currency ?? {});
  return {
    factor: factorOf(terms),
    factors: Object.fromEntries(own.map(([currency, its]) => [currency, factorOf(its)])),
    amounts: Object.fromEntries(
      limits
        .filter(isAmount)
        .map(({ id, usd }) => [id, byCurrency((currency) => times(usd, rates[currency]))]),
    ),
  };
}

/** True for a limit of the amount. */
export function isAmount(limit: Limit): limit is Limit & { readonly usd: string } {
  return limit.usd !== undefined;
}

/** `of` each currency. */
export function byCurrency<T>(of: (currency: Currency) => T): Readonly<Record<Currency, T>> {
  const entries = keysOf(CURRENCIES).map((currency) => [currency, of(currency)]);
  return Object.fromEntries(entries) as Record<Currency, T>;
}

/** More digits than a double has, so that the text of the factor rounds to the double nearest to the factor itself. */
const DIGITS = 40;

/** r (1 + r)^n / ((1 + r)^n - 1), and 1 / n for a rate of 0; cut after `DIGITS` digits. */
function factorOf({ months, monthly_rate }: ReferenceInstallment): string {
  const { units, scale } = readDecimal(monthly_rate);
  const one = power(scale);
  const grown = (one + units) ** BigInt(months);
  const [dividend, divisor] =
    units === 0n ? [1n, BigInt(months)] : [units * grown, one * (grown - one ** BigInt(months))];
  return decimalText({ units: (dividend * power(DIGITS)) / divisor, scale: DIGITS });
}

function times(left: string, right: string): string {
  const [a, b] = [readDecimal(left), readDecimal(right)];
  return decimalText({ units: a.units * b.units, scale: a.scale + b.scale });
}

/** Such as `1234.5`: without an exponent and without zeros at the end. */
function decimalText(decimal: Decimal): string {
  let { units, scale } = decimal;
  for (; scale > 0 && units % 10n === 0n; scale -= 1) units /= 10n;
  return writeDecimal(units, scale);
}

/** A finite number that is not negative, as a decimal in text that `Number` reads as the same number. */
export function textOfNumber(value: number): string {
  return decimalText(readDecimal(`${value}`));
}
