/**
 * Interest on what is paid late, and what limits it (D45; docs/signing.md, "Rules of a country"). Pure.
 */
import type { Country } from '../../ground/base/country-data.ts';
import { readDecimal } from '../money/decimal.ts';
import { rulesOf } from './country-rules.ts';
import { annualRateOf, isAbove, percentText } from './rates.ts';
import type { CountryTerms } from './terms.ts';

/** The yearly rate of late interest, times 10^30, as a legal maximum is compared with it; 0: there is none. */
function lateRateOf({ late_rate }: Pick<CountryTerms, 'late_rate'>, country: Country): bigint {
  if (late_rate === undefined || late_rate === 'none') return 0n;
  const { units, scale } = readDecimal(late_rate);
  return annualRateOf({ units, scale: scale + 2 }, rulesOf(country).maximum.kind);
}

/** The same rate, where the country's maximum limits it; otherwise 0. */
export function limitedLateRate(terms: Pick<CountryTerms, 'late_rate'>, country: Country): bigint {
  return rulesOf(country).lateInterest.bound === 'none' ? 0n : lateRateOf(terms, country);
}

/** The yearly rate of late interest as a percentage: `26.82`. */
export function lateRateText(terms: Pick<CountryTerms, 'late_rate'>, country: Country): string {
  return percentText(lateRateOf(terms, country));
}

/** Why the late rate is not allowed, by the newest month of the legal maximum; null: it is allowed. */
export function lateFault(country: Country, terms: CountryTerms): string | null {
  const { legal_maximum: maximum } = terms;
  const month = maximum === 'none' ? undefined : Object.keys(maximum).toSorted().at(-1);
  if (maximum === 'none' || month === undefined) return null;
  if (!isAbove(limitedLateRate(terms, country), readDecimal(maximum[month]!))) return null;
  const yearly = lateRateText(terms, country);
  return `is ${yearly} % a year, which is above the legal maximum of ${month}, ${maximum[month]} %, before any rounding`;
}
