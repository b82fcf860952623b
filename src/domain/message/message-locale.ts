/** How a recipient is written to: the language and the number format of the phone's country. */

import type { Phone } from '../application/phone.ts';
import { countryOfPhone } from '../application/phone-country.ts';
import type { Country } from '../country-data.ts';
import type { MessageLanguage } from './outgoing-message.ts';

interface MessageLocale {
  readonly language: MessageLanguage;
  /** For Intl: `es-CO`, `pt-BR`; the bare language where the phone is of no country. */
  readonly locale: string;
}

/** East Timor and Portuguese-speaking Africa too; not Macau, where few read it. */
const PORTUGUESE: ReadonlySet<Country> = new Set(['BR', 'PT', 'AO', 'MZ', 'CV', 'GW', 'ST', 'TL']);

/** The language and locale of the owner of an E.164 phone: Portuguese where it is spoken, else Spanish. */
export function localeOfPhone(phone: Phone): MessageLocale {
  const country = countryOfPhone(phone);
  if (country === null) return { language: 'es', locale: 'es' };
  const language = PORTUGUESE.has(country) ? 'pt' : 'es';
  return { language, locale: `${language}-${country}` };
}
