/** What a country calls the annual effective rate with all costs (D45). Pure. */
import type { Country } from '../../ground/base/country-data.ts';
import type { ContractLanguage } from './contract-language.ts';

const NAMES: Readonly<Partial<Record<Country, string>>> = {
  CO: 'tasa efectiva anual',
  MX: 'CAT',
  PE: 'TCEA',
  BR: 'CET',
  CL: 'CAE',
  AR: 'CFT',
};

const OTHERS: Readonly<Record<ContractLanguage, string>> = {
  es: 'tasa efectiva anual',
  pt: 'taxa efetiva anual',
  en: 'annual effective rate',
};

/** The country's word; for other countries the plain words of the language. */
export function rateNameOf(country: Country, language: ContractLanguage): string {
  return NAMES[country] ?? OTHERS[language];
}
