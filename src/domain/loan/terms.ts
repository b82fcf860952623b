/**
 * The operator's terms of loans, by country (D45; docs/signing.md, "Terms"). `check-terms.ts` checks a file of this
 * form. Types alone.
 */
import type { Country, Currency } from '../../ground/base/country-data.ts';
import type { ContractTemplate } from './contract-template.ts';
import type { WithdrawalPeriod } from './withdrawal.ts';

/** A fee: an amount of the currency, or a percentage of the loan. */
export interface Fee {
  readonly name: string;
  /** `deducted`: taken once, off what is paid out. `financed`: lent beside it. `monthly`: added to each installment. */
  readonly when: 'deducted' | 'financed' | 'monthly';
  readonly amount?: string;
  readonly percent?: string;
  /** The fee is the premium of an insurance, so it is no interest and has no tax of the loan. */
  readonly kind?: 'insurance';
}

/** The terms of a country. Amounts and percentages are decimals in text, so that none is rounded on its way. */
export interface CountryTerms {
  readonly lender: { readonly name: string; readonly number: string; readonly address?: string };
  readonly currency: Currency;
  /** A time zone of the IANA database: its wall clock tells the month of the legal maximum, and the days. */
  readonly zone: string;
  /** A percentage: `2` is 2 % a month. */
  readonly monthly_rate: string;
  readonly months: number;
  /** The least and the most months of a loan; absent: `months` alone. */
  readonly term?: { readonly minimum: number; readonly maximum: number };
  readonly fees: readonly Fee[];
  /** A percentage of the balance each month, for an insurance that the lender asks for. */
  readonly insurance?: { readonly name: string; readonly percent: string };
  /** The least and the most amount of a loan. */
  readonly minimum: string;
  readonly maximum: string;
  /** The highest annual effective rate of each month (YYYY-MM), a percentage; `none` if the country has no maximum. */
  readonly legal_maximum: 'none' | Readonly<Record<string, string>>;
  readonly withdrawal: 'none' | WithdrawalPeriod;
  /** How many days a contract may be signed after it was made. */
  readonly offer_days: number;
  /** The name of a template. */
  readonly contract: string;
  /** How and where the applicant pays. */
  readonly payment?: string;
  /** A percentage a month, on principal that is overdue; `none`: the lender asks for no interest there. */
  readonly late_rate?: string;
  /** How late the applicant has to be until the lender may ask for the whole balance; absent: never. */
  readonly acceleration?: { readonly days: number } | { readonly installments: number };
  /** The credit bureaus that the lender reports to; absent: none. */
  readonly bureaus?: string;
  /** Where the applicant complains. */
  readonly complaints?: string;
  /** The authority that watches over the lender; absent: the one of the country's rules. */
  readonly supervisor?: string;
  /** Where the privacy notice is: an address, or words. */
  readonly privacy_notice?: string;
  /** Where the applicant asks for their data, a correction or a deletion. */
  readonly data_rights?: string;
}

export interface Terms {
  /** Stored with each contract. */
  readonly version: string;
  readonly countries: Readonly<Partial<Record<Country, CountryTerms>>>;
  /** By name, the built-in ones included. */
  readonly contracts: Readonly<Record<string, ContractTemplate>>;
  /** True for the built-in terms, which bind nobody: every page says so. */
  readonly demonstration: boolean;
}
