/**
 * The language of a conversation, and the locale of its amounts, by the country of the phone (docs/conversation.md,
 * "The flow of a brand"). Pure.
 */

import { type Country, isCountry } from '../../ground/base/country-data.ts';
import { languageOfCountry } from '../../ground/base/language.ts';
import { localeOfPhone } from '../message/outgoing-message.ts';
import { countryOfPhone, type Phone } from '../phone/phone.ts';
import type { Language } from './flow.ts';

/** The same language as messages have, and English in some countries. */
export function languageOfPhone(phone: Phone): { readonly language: Language; readonly locale: string } {
  const country = countryOfPhone(phone);
  if (country !== null && languageOfCountry(country) === 'en')
    return { language: 'en', locale: `en-${country}` };
  return localeOfPhone(phone);
}

/** The country of a locale that `languageOfPhone` gave; null: the phone's country was not known. */
export function countryOfLocale(locale: string): Country | null {
  const { region } = new Intl.Locale(locale);
  return region !== undefined && isCountry(region) ? region : null;
}
