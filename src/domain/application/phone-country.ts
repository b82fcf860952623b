/** Which country a phone is of, by its calling code. */
import parsePhoneNumber from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';
import { type Country, isCountry } from '../country-data.ts';

const LONGEST_CALLING_CODE = 3;
/** Places with a plan of their own that ISO counts as part of Saint Helena: Ascension and Tristan da Cunha. */
const PART_OF_SAINT_HELENA = ['AC', 'TA'];

/**
 * The country of an E.164 number (`+573001234567`). Where several share the calling code (+1, +7, +44 ...),
 * libphonenumber tells by the number; one that is valid in none of them counts as the largest's. null: the code
 * is unassigned or of no country of ISO 3166-1 (free phone, satellite, Kosovo).
 */
export function countryOfPhone(e164: string): Country | null {
  const sharing = countriesOfCode(e164);
  const known = sharing.length > 1 ? parsePhoneNumber(e164)?.country : undefined;
  const place = known ?? sharing[0] ?? '';
  const country = PART_OF_SAINT_HELENA.includes(place) ? 'SH' : place;
  return isCountry(country) ? country : null;
}

/** The places of a number's calling code, the largest first; none for a code of no place. */
function countriesOfCode(e164: string): readonly string[] {
  for (let length = 1; length <= LONGEST_CALLING_CODE; length++) {
    const countries = metadata.country_calling_codes[e164.slice(1, 1 + length)];
    if (countries !== undefined) return countries;
  }
  return [];
}
