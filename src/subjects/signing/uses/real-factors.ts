/**
 * What the terms of loans really cost a month, for the comparison with the policy's reference installment (D27, D45).
 * Pure.
 */
import { priceLoan } from '../../../domain/loan/offer.ts';
import type { CountryTerms, Terms } from '../../../domain/loan/terms.ts';
import { toMinor } from '../../../domain/money/money.ts';
import type { Country, Currency } from '../../../ground/base/country-data.ts';

/**
 * The installment of one unit of debt by currency, with its fees, for a loan of the most that a country's terms lend:
 * smaller loans cost as much or more. Currencies without terms that price a loan now have none.
 */
export function realFactorsOf(terms: Terms | null, now: Date): Partial<Record<Currency, number>> {
  const factors: Partial<Record<Currency, number>> = {};
  const countries = Object.entries(terms?.countries ?? {}) as [Country, CountryTerms][];
  for (const [country, ofCountry] of countries) {
    const { currency, maximum } = ofCountry;
    const priced = priceLoan(country, ofCountry, { amount: maximum, currency }, now);
    if (priced.kind === 'blocked') continue;
    const factor = Number(priced.loan.installment) / Number(toMinor(maximum, currency));
    factors[currency] = Math.max(factor, factors[currency] ?? 0);
  }
  return factors;
}
