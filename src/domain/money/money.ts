/**
 * Amounts of money in the minor unit of their currency (ISO 4217), and how people read them: cents of a dollar, fils of
 * a dinar, whole pesos of Chile. Pure.
 */
import { readDecimal, unitsAt, writeDecimal } from './decimal.ts';

/**
 * ISO 4217, minor units: every other active currency has two digits. Colombia's peso has two in the standard and none
 * in life: no loan, debt or payment is told in cents (D45).
 */
const DIGITS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'BIF CLP COP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0]),
  ),
  ...Object.fromEntries('BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3])),
};

/** The digits after the point of a currency. */
export function minorDigits(currency: string): number {
  return DIGITS[currency] ?? 2;
}

/** An amount as it was sent (D8), in minor units; rounded if it has more digits than the currency. */
export function toMinor(amount: number | string, currency: string): bigint {
  return unitsAt(readDecimal(String(amount)), minorDigits(currency));
}

/** Minor units as an exact decimal: `6000000.00`. */
export function moneyText(minor: bigint, currency: string): string {
  return writeDecimal(minor, minorDigits(currency));
}

/** A decimal of `moneyText` for people, with all its digits: `$ 6.000.000`, `R$ 8.500,00`. */
export function formatMoney(text: string, currency: string, locale: string): string {
  const digits = text.split('.')[1]?.length ?? 0;
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  // The decimal stays a text here, because a number would lose digits from 2^53 on.
  return format.format(text as `${number}`).replaceAll(/\s/g, ' ');
}

/** A percentage for people: `26,82 %`. */
export function formatPercent(text: string, locale: string): string {
  const digits = text.split('.')[1]?.length ?? 0;
  const format = new Intl.NumberFormat(locale, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${format.format(text as `${number}`)} %`;
}
