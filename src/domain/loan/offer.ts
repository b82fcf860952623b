/**
 * Computes what an applicant is offered by the terms and the rules of the country (D45), or why there is no offer.
 * Pure. docs/signing.md ("The loan", "Nobody gets a contract") has the rule.
 */
import type { Country } from '../../ground/base/country-data.ts';
import { type Decimal, readDecimal } from '../money/decimal.ts';
import { moneyText, toMinor } from '../money/money.ts';
import { type CountryRules, rulesOf } from './country-rules.ts';
import { limitedLateRate } from './late-interest.ts';
import { type Loan, loanOf, type Payment, part } from './loan.ts';
import { addDays, addMonths, localDate, startOfDate } from './local-day.ts';
import type { Paying } from './payees.ts';
import { annualRateOf, effectiveRateOf, isAbove, percentText } from './rates.ts';
import type { CountryTerms, Fee } from './terms.ts';

/** Why the applicant gets no contract. An operator has to mend the first eight. */
export type BlockReason =
  /** The terms have nothing for the country. */
  | 'no_terms'
  /** The terms of the country lack something that a contract tells. */
  | 'terms_incomplete'
  /** The rules of the country are not whole, so no lender may use them. */
  | 'no_rules'
  /** The terms have no legal maximum for the month. */
  | 'no_maximum'
  /** A rate that the law limits, of the loan or of late payment, is above the maximum of the month. */
  | 'above_maximum'
  /** The brand of the key or the terms name a contract template that does not exist, or that tells too little. */
  | 'no_template'
  /** No certificate is set that seals contracts. */
  | 'no_certificate'
  /** The certificate that seals contracts has expired, or is not valid yet. */
  | 'certificate_expired'
  /** The ID number has too few letters and digits to be asked for at the signature. */
  | 'short_id_number'
  | 'wrong_currency'
  | 'below_minimum'
  | 'above_limit'
  /** An operator has to look at the debts: their sum is too far from the declared amount (D52). */
  | 'debts_differ'
  /** The debts are more than what is paid out. */
  | 'debts_above_net'
  /** The application does not wait for a signature. */
  | 'not_pending'
  /** The application's stored data is erased or cannot be read. */
  | 'unreadable';

/** A fee of a loan in minor units, without and with its tax. */
interface FeeAmount {
  readonly fee: Fee;
  readonly amount: bigint;
  readonly tax: bigint;
}

/** A loan with everything that a contract says about it. */
export interface PricedLoan {
  readonly kind: 'priced';
  readonly loan: Loan;
  /** What is lent: the amount that was asked for, and the fees that are financed. */
  readonly principal: bigint;
  readonly fees: readonly FeeAmount[];
  /** The yearly rate of the interest alone, as the country tells it. A percentage with two digits: `19.56`. */
  readonly interestRate: string;
  /** The yearly effective rate with all charges that the country counts: `21.37`. */
  readonly annualRate: string;
  /** The rate that a legal maximum is compared with, times 10^30. */
  readonly limitedRate: bigint;
  /** Until when a contract may be signed. */
  readonly expiresAt: Date;
}

/** Why no loan is made in a country. */
export const COUNTRY_BLOCKS = [
  'no_terms',
  'no_rules',
  'terms_incomplete',
] as const satisfies readonly BlockReason[];
export type CountryBlock = (typeof COUNTRY_BLOCKS)[number];

/** Why terms that are whole make no loan of an amount. */
export const PRICE_BLOCKS = [
  'no_maximum',
  'above_maximum',
  'wrong_currency',
  'below_minimum',
  'above_limit',
] as const satisfies readonly BlockReason[];
type PriceBlock = (typeof PRICE_BLOCKS)[number];

export type Priced = PricedLoan | { readonly kind: 'blocked'; readonly reason: PriceBlock };

/** What is asked for. Without `months` the loan has those that the terms offer. */
export interface Asked {
  readonly amount: number | string;
  readonly currency: string;
  readonly months?: number;
}

/** The loan of an amount at an instant, by the terms and the rules of a country. */
export function priceLoan(country: Country, terms: CountryTerms, asked: Asked, now: Date): Priced {
  const { currency } = terms;
  if (asked.currency !== currency) return blocked('wrong_currency');
  const rules = rulesOf(country);
  const amount = toMinor(asked.amount, currency);
  if (amount < toMinor(terms.minimum, currency)) return blocked('below_minimum');
  if (amount > toMinor(terms.maximum, currency)) return blocked('above_limit');
  const fees = terms.fees.map((fee) => feeAmount(fee, amount, currency, rules));
  const principal = amount + sumOf(fees, 'financed', withTax);
  const loan = loanOf({
    principal,
    ...ratesOf(terms, rules),
    months: asked.months ?? terms.months,
    deducted: sumOf(fees, 'deducted', withTax),
    monthlyFee: sumOf(fees, 'monthly', (one) => (isInsurance(one) ? 0n : one.amount)),
    monthlyFeeTax: sumOf(fees, 'monthly', ({ tax }) => tax),
    monthlyInsurance: sumOf(fees, 'monthly', (one) => (isInsurance(one) ? one.amount : 0n)),
  });
  // Financed fees are lent and kept, so they are not paid out.
  const net = loan === null ? 0n : loan.net - (principal - amount);
  if (loan === null || net <= 0n) return blocked('below_minimum');
  const annual = totalCost(loan, net, fees, rules);
  const limited = limitedRate(loan, net, fees, terms, rules);
  if (annual === null || limited === null) return blocked('above_maximum');
  const date = localDate(now, terms.zone);
  const late = limitedLateRate(terms, country);
  const highest = late > limited ? late : limited;
  const fault = maximumFault(terms, date, highest);
  if (fault !== null) return blocked(fault);
  return {
    kind: 'priced',
    loan: { ...loan, net },
    principal,
    fees,
    interestRate: percentText(annualRateOf(monthlyRateOf(terms), rules.interestRate.kind)),
    annualRate: percentText(annual),
    limitedRate: limited,
    expiresAt: expiry(terms, date, highest),
  };
}

function blocked(reason: PriceBlock): Priced {
  return { kind: 'blocked', reason };
}

const NOTHING: Decimal = { units: 0n, scale: 0 };

/** A percentage as a fraction. */
function fractionOf(percent: string): Decimal {
  const { units, scale } = readDecimal(percent);
  return { units, scale: scale + 2 };
}

function monthlyRateOf({ monthly_rate }: CountryTerms): Decimal {
  return fractionOf(monthly_rate);
}

function ratesOf(terms: CountryTerms, { tax }: CountryRules) {
  return {
    monthlyRate: monthlyRateOf(terms),
    interestTax: tax === null ? NOTHING : fractionOf(tax.percent),
    insurance: terms.insurance === undefined ? NOTHING : fractionOf(terms.insurance.percent),
  };
}

function feeAmount(fee: Fee, amount: bigint, currency: string, { tax }: CountryRules): FeeAmount {
  const exact =
    fee.amount === undefined ? part(amount, fractionOf(fee.percent ?? '0')) : toMinor(fee.amount, currency);
  const isTaxed = tax !== null && fee.kind !== 'insurance';
  return { fee, amount: exact, tax: isTaxed ? part(exact, fractionOf(tax.percent)) : 0n };
}

/** The premium of an insurance is the insurer's, and no interest. */
function isInsurance({ fee }: FeeAmount): boolean {
  return fee.kind === 'insurance';
}

function withTax({ amount, tax }: FeeAmount): bigint {
  return amount + tax;
}

function sumOf(fees: readonly FeeAmount[], when: Fee['when'], of: (fee: FeeAmount) => bigint): bigint {
  return fees.reduce((sum, one) => (one.fee.when === when ? sum + of(one) : sum), 0n);
}

/** The yearly cost with all charges that the country counts. Taxes that it leaves out are as if nobody paid them. */
function totalCost(loan: Loan, net: bigint, fees: readonly FeeAmount[], rules: CountryRules): bigint | null {
  if (rules.totalCost.withTax)
    return effectiveRateOf(
      loan.payments.map(({ payment }) => payment),
      net,
    );
  return effectiveRateOf(
    loan.payments.map(({ payment, tax }) => payment - tax),
    net + sumOf(fees, 'deducted', ({ tax }) => tax),
  );
}

/**
 * The rate that a legal maximum limits. Without a fee that counts it is that of the terms, because the rounding of
 * payments must not lift a rate over a maximum that it reaches.
 */
function limitedRate(
  loan: Loan,
  net: bigint,
  fees: readonly FeeAmount[],
  terms: CountryTerms,
  { maximum }: CountryRules,
): bigint | null {
  const counted = fees.some((one) => !isInsurance(one) && one.amount > 0n);
  if (maximum.fees !== 'count' || !counted) return annualRateOf(monthlyRateOf(terms), maximum.kind);
  return effectiveRateOf(
    loan.payments.map(({ payment, insurance }) => payment - insurance),
    net + sumOf(fees, 'deducted', (one) => (isInsurance(one) ? one.amount : 0n)),
  );
}

/** Why a rate, times 10^30, is not allowed on a date; null: it is allowed. Nothing is rounded (D45). */
export function maximumFault(
  { legal_maximum }: Pick<CountryTerms, 'legal_maximum'>,
  date: string,
  rate: bigint,
): 'no_maximum' | 'above_maximum' | null {
  if (legal_maximum === 'none') return null;
  const maximum = legal_maximum[date.slice(0, 7)];
  if (maximum === undefined) return 'no_maximum';
  return isAbove(rate, readDecimal(maximum)) ? 'above_maximum' : null;
}

/** A contract made today is signed on a day whose month allows its rate too. */
function expiry(terms: CountryTerms, today: string, rate: bigint): Date {
  let date = today;
  for (let day = 0; day <= terms.offer_days && maximumFault(terms, date, rate) === null; day += 1) {
    date = addDays(date, 1);
  }
  return startOfDate(date, terms.zone);
}

/** What the applicant reads before the acceptance (D45). Amounts are exact decimals, rates percentages. */
export interface Offer {
  readonly kind: 'offer';
  readonly amount: string;
  readonly currency: string;
  readonly installment: string;
  readonly months: number;
  readonly total: string;
  /** What is paid out: the amount without the fees that are taken off. */
  readonly net: string;
  /** All fees and premiums of insurances, and all taxes, over the whole loan. Not in contracts of version 1.0. */
  readonly fees?: string;
  readonly taxes?: string;
  readonly monthlyRate: string;
  /** The yearly rate of the interest alone, and the country's name for it. Contracts of version 1.0 have none. */
  readonly interestRate?: string;
  readonly interestRateName?: string;
  /** The yearly rate with all charges, and the country's name for it. */
  readonly annualRate: string;
  readonly rateName: string;
  readonly lender: string;
  /** The monthly rate of late interest, or `none`. Contracts of version 1.0 have none. */
  readonly lateRate?: string;
  /**
   * The days of the planned paying out, of the first installment and of the last one: YYYY-MM-DD. Not in version 1.0.
   */
  readonly disbursement?: string;
  readonly firstDue?: string;
  readonly lastDue?: string;
  /** The last day on which the contract may be signed: YYYY-MM-DD. Not in version 1.0. */
  readonly validUntil?: string;
  /** How long the applicant may withdraw. Not in version 1.0. */
  readonly withdrawal?: CountryTerms['withdrawal'];
  /** Who is paid of `net`. Not in contracts from before the debts were listed. */
  readonly paying?: Paying;
  readonly demonstration: boolean;
}

/** The offer of a priced loan. */
export function offerOfLoan(
  country: Country,
  terms: CountryTerms,
  { loan, principal, fees, interestRate, annualRate, expiresAt }: PricedLoan,
  {
    disbursement,
    paying,
    demonstration,
  }: { readonly disbursement: string; readonly paying: Paying; readonly demonstration: boolean },
): Offer {
  const { currency } = terms;
  const rules = rulesOf(country);
  const money = (minor: bigint) => moneyText(minor, currency);
  const once = (of: (fee: FeeAmount) => bigint) => sumOf(fees, 'deducted', of) + sumOf(fees, 'financed', of);
  const monthly = (of: (payment: Payment) => bigint) =>
    loan.payments.reduce((sum, payment) => sum + of(payment), 0n);
  return {
    kind: 'offer',
    amount: money(principal),
    currency,
    installment: money(loan.installment),
    months: loan.payments.length,
    total: money(loan.total),
    net: money(loan.net),
    fees: money(once(({ amount }) => amount) + monthly(({ fee, insurance }) => fee + insurance)),
    taxes: money(once(({ tax }) => tax) + monthly(({ tax }) => tax)),
    monthlyRate: terms.monthly_rate,
    interestRate,
    interestRateName: rules.interestRate.name,
    annualRate,
    rateName: rules.totalCost.name,
    lender: terms.lender.name,
    lateRate: terms.late_rate ?? 'none',
    disbursement,
    firstDue: addMonths(disbursement, 1),
    lastDue: addMonths(disbursement, loan.payments.length),
    validUntil: localDate(new Date(expiresAt.getTime() - 1), terms.zone),
    withdrawal: terms.withdrawal,
    paying,
    demonstration,
  };
}
