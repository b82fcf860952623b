/** Finds the country of a phone by its calling code. */
import parsePhoneNumber from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';
import { type Country, isCountry } from '../../ground/base/country-data.ts';

const LONGEST_CALLING_CODE = 3;
/** Ascension and Tristan da Cunha have their own numbering plans, but ISO counts them as part of Saint Helena. */
const PART_OF_SAINT_HELENA = ['AC', 'TA'];

/**
 * The country of an E.164 number (`+573001234567`). Where several countries share the calling code (+1, +7, +44 ...),
 * libphonenumber decides by the number. A number that is valid in none of them counts for the largest. Null where the
 * code is unassigned or belongs to no country of ISO 3166-1 (free phone, satellite, Kosovo).
 */
export function countryOfPhone(e164: string): Country | null {
  const sharing = countriesOfCode(e164);
  const known = sharing.length > 1 ? parsePhoneNumber(e164)?.country : undefined;
  const region = known ?? sharing[0] ?? '';
  const country = PART_OF_SAINT_HELENA.includes(region) ? 'SH' : region;
  return isCountry(country) ? country : null;
}

/** The countries of a number's calling code, the largest first; none for a code of no country. */
function countriesOfCode(e164: string): readonly string[] {
  for (let length = 1; length <= LONGEST_CALLING_CODE; length++) {
    const countries = metadata.country_calling_codes[e164.slice(1, 1 + length)];
    if (countries !== undefined) return countries;
  }
  return [];
}
