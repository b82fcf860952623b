/** The language of a conversation, and the locale of its amounts, by the country of the phone. Pure. */
import type { Phone } from '../../applications/rules/phone.ts';
import { countryOfPhone } from '../../applications/rules/phone-country.ts';
import { type Country, isCountry } from '../../base/country-data.ts';
import { localeOfPhone } from '../../messages/rules/message-locale.ts';
import type { Language } from './flow.ts';

/**
 * Countries whose conversations are in English. The message that began the conversation is in Spanish there, so only
 * countries in which few people read Spanish are named.
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

/** As messages do: Portuguese where people speak it, else Spanish; English in the countries above. */
export function languageOfPhone(phone: Phone): { readonly language: Language; readonly locale: string } {
  const country = countryOfPhone(phone);
  if (country !== null && ENGLISH.has(country)) return { language: 'en', locale: `en-${country}` };
  return localeOfPhone(phone);
}

/** The country of a locale that `languageOfPhone` gave; null: the phone's was not known. */
export function countryOfLocale(locale: string): Country | null {
  const { region } = new Intl.Locale(locale);
  return region !== undefined && isCountry(region) ? region : null;
}
