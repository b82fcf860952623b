/**
 * The languages of answers to partners (D24, D25), and the language in which the service writes to the people of a
 * country. Pure.
 */
import type { Country } from './country-data.ts';

/** The languages in which the service answers partners. */
export const LANGUAGES = ['en', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The same words in each language. */
export type Words = Readonly<Record<Language, string>>;

/** Words that `text` puts together in each language. */
export function inEach(text: (language: Language) => string): Words {
  return { en: text('en'), es: text('es') };
}

/** The language settings of a key. With `auto` the request decides; the others pin the key to a language. */
export const LANGUAGE_SETTINGS = ['auto', ...LANGUAGES] as const;
export type LanguageSetting = (typeof LANGUAGE_SETTINGS)[number];

// The second part: in which of its languages the service writes to the applicants of a country.

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

/** Spanish if no other language is known for the country. */
export function languageOfCountry(country: Country): 'es' | 'pt' | 'en' {
  if (PORTUGUESE.has(country)) return 'pt';
  return ENGLISH.has(country) ? 'en' : 'es';
}
