/**
 * What the law of a country asks of a loan, as data (D45; docs/signing.md, "Rules of a country"): how its rates are
 * called and what they contain, what a legal maximum limits, and its tax. The operator's terms have the lender's own
 * numbers. Each rule names its source; counsel confirms it. Data and a look-up; pure.
 */
import type { Country } from '../../ground/base/country-data.ts';
import { languageOfCountry } from '../../ground/base/language.ts';
import type { ContractPlaceholder } from './contract-template.ts';

/** How a yearly rate is computed of the monthly one: with compound interest, or twelve times. */
type RateKind = 'effective' | 'nominal';

export interface CountryRules {
  /** Every rule that a contract needs is here. Without that only the demonstration makes contracts. */
  readonly isWhole: boolean;
  /** The rate of the interest alone, with the country's name for it. */
  readonly interestRate: { readonly name: string; readonly kind: RateKind };
  /** The yearly cost with all charges. `withTax`: the taxes of the loan are charges too. */
  readonly totalCost: { readonly name: string; readonly withTax: boolean };
  /** A tax on the interest and on the lender's fees, beside them; null: none, or fees are told with it. */
  readonly tax: { readonly name: string; readonly percent: string } | null;
  /** What a legal maximum is compared with: the interest, and fees of the lender beside it or not. */
  readonly maximum: { readonly kind: RateKind; readonly fees: 'count' | 'do not count' };
  /** What limits the interest on what is paid late: the legal maximum of the month, or the agreement alone. */
  readonly lateInterest: { readonly bound: 'legal maximum' | 'none' };
  /** The authority that watches over lenders who are no banks; null: the operator's terms have to name it. */
  readonly supervisor: string | null;
  /** What a contract tells here beside what every contract tells (`REQUIRED_PLACEHOLDERS`). */
  readonly tells: readonly ContractPlaceholder[];
}

/**
 * - Colombia. The rate of the interest is told as an effective annual one, and fees of the lender without a service of
 *   their own count as interest: Decreto 1074 of 2015, 2.2.2.35.3 and 2.2.2.35.5; Ley 45 of 1990, article 68. The
 *   maximum is one and a half times the bank interest that the Superintendencia Financiera certifies as an effective
 *   annual rate: Código de Comercio, article 884; Código Penal, article 305. Interest has no IVA: Estatuto Tributario,
 *   article 476. Fees are told with their IVA. The name of the total cost is that of Ley 1748 of 2014. Interest for
 *   late payment is limited by the same maximum, and is owed on overdue installments alone: Código de Comercio, article
 *   884; Ley 45 of 1990, articles 65, 66 and 69, which also lets the lender ask for the balance only where the contract
 *   says so. The Superintendencia de Industria y Comercio watches over lenders that the Superintendencia Financiera
 *   does not: Ley 1480 of 2011, articles 45 and 59.
 * - Mexico. The interest has IVA of 16 %, and so have fees: Ley del IVA, articles 1 and 18-A. The interest is told as
 *   an ordinary annual rate, the total cost as CAT without IVA: Ley para la Transparencia y Ordenamiento de los
 *   Servicios Financieros, article 8; Circular 21/2009 of Banco de México. No law limits the rate. Interest for late
 *   payment is what was agreed (Código de Comercio, article 362), with IVA. Complaints go to CONDUSEF: Ley de
 *   Protección y Defensa al Usuario de Servicios Financieros, articles 5 and 50 Bis.
 */
const RULES: Readonly<Partial<Record<Country, CountryRules>>> = {
  CO: {
    isWhole: true,
    interestRate: { name: 'tasa de interés efectiva anual', kind: 'effective' },
    totalCost: { name: 'valor total unificado (VTU)', withTax: true },
    tax: null,
    maximum: { kind: 'effective', fees: 'count' },
    lateInterest: { bound: 'legal maximum' },
    supervisor: 'Superintendencia de Industria y Comercio (SIC)',
    tells: [],
  },
  MX: {
    isWhole: true,
    interestRate: { name: 'tasa de interés ordinaria anual', kind: 'nominal' },
    totalCost: { name: 'CAT sin IVA', withTax: false },
    tax: { name: 'IVA', percent: '16' },
    maximum: { kind: 'effective', fees: 'count' },
    lateInterest: { bound: 'none' },
    supervisor:
      'Comisión Nacional para la Protección y Defensa de los Usuarios de Servicios Financieros (CONDUSEF)',
    tells: ['tax'],
  },
};

/** The names of rates in countries without whole rules. */
const NAMES: Readonly<Partial<Record<Country, readonly [interestRate: string, totalCost: string]>>> = {
  PE: ['TEA', 'TCEA'],
  BR: ['taxa de juros efetiva anual', 'CET'],
  CL: ['tasa de interés efectiva anual', 'CAE'],
  AR: ['TEA', 'CFT'],
};
const OTHER_NAMES = {
  es: ['tasa de interés efectiva anual', 'tasa efectiva anual con cargos'],
  pt: ['taxa de juros efetiva anual', 'taxa efetiva anual com encargos'],
  en: ['annual effective interest rate', 'annual effective rate with charges'],
} as const;

/**
 * The rules of a country. Where `isWhole` is false, they are those of a plain loan, and the demonstration alone uses
 * them.
 */
export function rulesOf(country: Country): CountryRules {
  const whole = RULES[country];
  if (whole !== undefined) return whole;
  const [interestRate, totalCost] = NAMES[country] ?? OTHER_NAMES[languageOfCountry(country)];
  return {
    isWhole: false,
    interestRate: { name: interestRate, kind: 'effective' },
    totalCost: { name: totalCost, withTax: true },
    tax: null,
    maximum: { kind: 'effective', fees: 'count' },
    lateInterest: { bound: 'legal maximum' },
    supervisor: null,
    tells: [],
  };
}

/** The countries whose rules are whole. */
export const WHOLE_COUNTRIES: readonly Country[] = Object.keys(RULES) as Country[];
