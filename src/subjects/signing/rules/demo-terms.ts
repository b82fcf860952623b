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
/** What the lender tells about itself. Nothing of it exists. */
const LENDERS = {
  es: {
    name: 'Prestamista de Demostración',
    address: 'Calle Inventada 1, Ciudad de Demostración',
    payment: 'por transferencia a la cuenta de demostración 000',
    complaints: 'quejas@prestamista.example',
    supervisor: 'ninguna: es una demostración',
    notice: 'https://prestamista.example/privacidad',
    rights: 'datos@prestamista.example',
  },
  pt: {
    name: 'Credor de Demonstração',
    address: 'Rua Inventada 1, Cidade de Demonstração',
    payment: 'por transferência para a conta de demonstração 000',
    complaints: 'reclamacoes@credor.example',
    supervisor: 'nenhuma: é uma demonstração',
    notice: 'https://credor.example/privacidade',
    rights: 'dados@credor.example',
  },
  en: {
    name: 'Demonstration Lender',
    address: '1 Invented Street, Demonstration City',
    payment: 'by transfer to the demonstration account 000',
    complaints: 'complaints@lender.example',
    supervisor: 'none: this is a demonstration',
    notice: 'https://lender.example/privacy',
    rights: 'data@lender.example',
  },
} as const;

function demoTermsOf(country: Country): CountryTerms {
  const language = languageOfCountry(country);
  const { name, address, payment, complaints, supervisor, notice, rights } = LENDERS[language];
  return {
    lender: { name, number: 'DEMO-000', address },
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
    payment,
    late_rate: '1.5',
    acceleration: { installments: 3 },
    complaints,
    supervisor,
    privacy_notice: notice,
    data_rights: rights,
  };
}

export const DEMO_TERMS: Terms = {
  version: 'demo-4',
  countries: Object.fromEntries(keysOf(COUNTRY_CURRENCY).map((country) => [country, demoTermsOf(country)])),
  contracts: DEFAULT_CONTRACTS,
  demonstration: true,
};
