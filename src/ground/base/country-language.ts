/** The language that people of a country read, of those that the service writes to applicants. */
import type { Country } from './country-data.ts';

/** Includes East Timor and Portuguese-speaking Africa, but not Macau, where few people read Portuguese. */
const PORTUGUESE: ReadonlySet<Country> = new Set(['BR', 'PT', 'AO', 'MZ', 'CV', 'GW', 'ST', 'TL']);
/**
 * The message before a conversation has no English: it is in Spanish in these countries too, so only countries in which
 * few people read Spanish are named.
 */
const ENGLISH: ReadonlySet<Country> = new Set([
  'GB',
  'IE',
  'AU',
  'NZ',
  'ZA',
  'NG',
  'KE',
  'GH',
  'IN',
  'JM',
  'TT',
  'BB',
  'GY',
  'BS',
]);

/** Spanish where no other language is known. */
export function languageOfCountry(country: Country): 'es' | 'pt' | 'en' {
  if (PORTUGUESE.has(country)) return 'pt';
  return ENGLISH.has(country) ? 'en' : 'es';
}
