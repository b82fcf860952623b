/**
 * What a contract and a consent tell of the lender's terms beside prices (D45; docs/signing.md, "Terms"). A file of
 * terms may be without it: then loans are priced, and nobody gets a contract. Pure.
 */
import type { Country } from '../../ground/base/country-data.ts';
import { rulesOf } from './country-rules.ts';
import type { CountryTerms } from './terms.ts';

/** The members that the terms of a country lack for a contract, in the order of the document. */
export function lackingOf(country: Country, terms: CountryTerms): string[] {
  const { lender, payment, late_rate, complaints, supervisor, privacy_notice, data_rights } = terms;
  const needed = {
    'lender.address': lender.address,
    payment,
    late_rate,
    complaints,
    supervisor: supervisor ?? rulesOf(country).supervisor ?? undefined,
    privacy_notice,
    data_rights,
  };
  return Object.entries(needed).flatMap(([member, value]) => (value === undefined ? [member] : []));
}
