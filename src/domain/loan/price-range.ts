/**
 * Prices the terms of a country over their whole range (D45): the amounts and months that they name, and that nobody
 * can be offered. Pure.
 */
import type { Country } from '../../ground/base/country-data.ts';
import { moneyText, toMinor } from '../money/money.ts';
import { startOfDate } from './local-day.ts';
import { type BlockReason, priceLoan } from './offer.ts';
import type { CountryTerms } from './terms.ts';

/** A loan that the terms name and cannot offer. */
export interface NotOffered {
  readonly country: Country;
  /** The first amount of the range that cannot be offered. */
  readonly amount: string;
  readonly months: number;
  readonly reason: BlockReason;
  /** The least amount of the range that can be offered over so many months; null: none. */
  readonly least: string | null;
}

/**
 * The first loan that the terms name and cannot offer, by months and then by amount; null: there is none. The legal
 * maximum is that of the newest month that the terms have. A fixed fee weighs most on the least amount, so what can be
 * offered are all amounts from some amount on.
 */
export function firstNotOffered(country: Country, terms: CountryTerms): NotOffered | null {
  const { currency, term, months } = terms;
  const now = newestMonth(terms);
  if (now === null) return null;
  const [from, to] = term === undefined ? [months, months] : [term.minimum, term.maximum];
  const spared = withSpare(terms);
  const least = toMinor(terms.minimum, currency);
  const most = toMinor(terms.maximum, currency);
  for (let each = from; each <= to; each += 1) {
    const reasonAt = (minor: bigint) => {
      const asked = { amount: moneyText(minor, currency), currency, months: each };
      const priced = priceLoan(country, spared, asked, now);
      return priced.kind === 'blocked' ? priced.reason : null;
    };
    const fault = (amount: bigint, first: bigint | null): NotOffered => ({
      country,
      amount: moneyText(amount, currency),
      months: each,
      reason: reasonAt(amount)!,
      least: first === null ? null : moneyText(first, currency),
    });
    if (reasonAt(least) !== null) return fault(least, firstOffered(least, most, reasonAt));
    if (reasonAt(most) !== null) return fault(most, least);
  }
  return null;
}

/**
 * The terms with five minor units more a month. Level payment, interest, tax, premium and a fee in percent are rounded
 * by half a unit each, up for one amount and down for the next. So all amounts above one that can be offered with these
 * five can be offered. A rate without fees that count has no rounding.
 */
function withSpare(terms: CountryTerms): CountryTerms {
  const { fees, currency } = terms;
  if (fees.every(({ kind }) => kind === 'insurance')) return terms;
  const spare = { name: 'rounding', when: 'monthly', amount: moneyText(5n, currency) } as const;
  return { ...terms, fees: [...fees, spare] };
}

/** The least amount above `low`, which cannot be offered, that can; null: not even `high`. */
function firstOffered(
  low: bigint,
  high: bigint,
  reasonAt: (minor: bigint) => BlockReason | null,
): bigint | null {
  if (reasonAt(high) !== null) return null;
  let [refused, offered] = [low, high];
  while (offered - refused > 1n) {
    const middle = (refused + offered) / 2n;
    if (reasonAt(middle) === null) offered = middle;
    else refused = middle;
  }
  return offered;
}

/** An instant of the newest month with a legal maximum, or of any day where there is none; null: no month has one. */
function newestMonth({ legal_maximum, zone }: CountryTerms): Date | null {
  if (legal_maximum === 'none') return startOfDate('2026-01-01', zone);
  const newest = Object.keys(legal_maximum).toSorted().at(-1);
  return newest === undefined ? null : startOfDate(`${newest}-01`, zone);
}
