/** The language and the number format of a recipient, by the country of the phone. */

import { languageOfCountry } from '../../ground/base/country-language.ts';
import type { Phone } from '../phone/phone.ts';
import { countryOfPhone } from '../phone/phone-country.ts';
import type { MessageLanguage } from './outgoing-message.ts';

interface MessageLocale {
  readonly language: MessageLanguage;
  /** For Intl: `es-CO`, `pt-BR`; the language alone for a phone of no country. */
  readonly locale: string;
}

/** The language and locale of a phone: Portuguese in countries where people speak it, else Spanish. */
export function localeOfPhone(phone: Phone): MessageLocale {
  const country = countryOfPhone(phone);
  if (country === null) return { language: 'es', locale: 'es' };
  const language = languageOfCountry(country) === 'pt' ? 'pt' : 'es';
  return { language, locale: `${language}-${country}` };
}
