/**
 * The terms of the demo: 1.5 % a month over 36 months, and a lender that does not exist. Only the embedded store uses
 * them (D45). Pure.
 */
import type { CountryTerms, Terms } from '../../../domain/loan/terms.ts';
import { COUNTRY_CURRENCY, type Country } from '../../../ground/base/country-data.ts';
import { keysOf } from '../../../ground/base/keys-of.ts';
import { languageOfCountry } from '../../../ground/base/language.ts';
import { DEFAULT_CONTRACTS } from './default-contracts.ts';

const ZONES: Readonly<Partial<Record<Country, string>>> = {
  CO: 'America/Bogota',
  MX: 'America/Mexico_City',
  PE: 'America/Lima',
  BR: 'America/Sao_Paulo',
  AR: 'America/Argentina/Buenos_Aires',
  CL: 'America/Santiago',
  EC: 'America/Guayaquil',
};
/** Examples of the form. The operator has to set what the law of a country says. */
const WITHDRAWALS: Readonly<Partial<Record<Country, CountryTerms['withdrawal']>>> = {
  CO: { days: 5, kind: 'business' },
  MX: { days: 10, kind: 'business' },
  BR: { days: 7, kind: 'calendar' },
  AR: { days: 10, kind: 'calendar' },
};
const LENDERS = {
  es: 'Prestamista de Demostración',
  pt: 'Credor de Demonstração',
  en: 'Demonstration Lender',
} as const;

function demoTermsOf(country: Country): CountryTerms {
  const language = languageOfCountry(country);
  return {
    lender: { name: LENDERS[language], number: 'DEMO-000' },
    currency: COUNTRY_CURRENCY[country],
    zone: ZONES[country] ?? 'UTC',
    monthly_rate: '1.5',
    months: 36,
    fees: [],
    minimum: '1',
    maximum: '1000000000000',
    legal_maximum: 'none',
    withdrawal: WITHDRAWALS[country] ?? 'none',
    offer_days: 2,
    contract: `standard-${language}`,
  };
}

export const DEMO_TERMS: Terms = {
  version: 'demo-3',
  countries: Object.fromEntries(keysOf(COUNTRY_CURRENCY).map((country) => [country, demoTermsOf(country)])),
  contracts: DEFAULT_CONTRACTS,
  demonstration: true,
};
