/**
 * Computes what an applicant is offered by the terms of the country (D45), or why there is no offer; with the annual
 * effective rate, and the country's name for it. Pure. docs/signing.md ("The loan", "Nobody gets a contract") has the
 * rule.
 */
import type { Country } from '../../ground/base/country-data.ts';
import { type Decimal, divideRounded, power, readDecimal, unitsAt, writeDecimal } from '../money/decimal.ts';
import { moneyText, toMinor } from '../money/money.ts';
import type { ContractLanguage } from './contract-template.ts';
import { type Loan, loanOf } from './loan.ts';
import { addDays, localDate, startOfDate } from './local-day.ts';
import type { CountryTerms, Fee } from './terms.ts';

// The annual effective rate of a loan with its fees (D45): the rate at which the payments are worth what was paid out.
// Found by bisection in decimals of 30 digits.

const ONE = power(30);
/** 1,000 % a month. A loan above it counts as one without a rate. */
const HIGHEST = 10n * ONE;

/** The monthly rate, times 10^30; null if it is above 1,000 % a month. */
function monthlyRateOf({ payments, net }: Pick<Loan, 'payments' | 'net'>): bigint | null {
  const worth = net * ONE;
  if (presentValue(payments, HIGHEST) > worth) return null;
  let [low, high] = [0n, HIGHEST];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (presentValue(payments, middle) > worth) low = middle;
    else high = middle;
  }
  return high;
}

/** What the payments are worth today at a monthly rate, times 10^30. */
export function presentValue(payments: Loan['payments'], monthlyRate: bigint): bigint {
  return payments.reduceRight(
    (value, { payment }) => ((value + payment * ONE) * ONE) / (ONE + monthlyRate),
    0n,
  );
}

/** Digits of the percentage, as laws and their tables have them. */
const DIGITS = 2;

/** The annual effective rate in hundredths of a percent; null if there is no rate up to 1,000 % a month. */
export function annualRateOf(loan: Pick<Loan, 'payments' | 'net'>): bigint | null {
  const monthly = monthlyRateOf(loan);
  if (monthly === null) return null;
  let grown = ONE;
  for (let month = 1; month <= 12; month += 1) grown = divideRounded(grown * (ONE + monthly), ONE);
  return divideRounded((grown - ONE) * power(2 + DIGITS), ONE);
}

/** Hundredths of a percent as a percentage: `26.82`. */
export function percentText(hundredths: bigint): string {
  return writeDecimal(hundredths, DIGITS);
}

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

/**
 * The country's word for the annual effective rate with all costs (D45); for other countries the plain words of the
 * language.
 */
export function rateNameOf(country: Country, language: ContractLanguage): string {
  return NAMES[country] ?? OTHERS[language];
}

/** Why the applicant gets no contract. An operator has to mend the first six. */
export type BlockReason =
  /** The terms have nothing for the country. */
  | 'no_terms'
  /** The terms have no legal maximum for the month. */
  | 'no_maximum'
  /** The annual effective rate is above the legal maximum of the month. */
  | 'above_maximum'
  /** The key's brand or the terms name a contract template that does not exist. */
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
  /** The application does not wait for a signature. */
  | 'not_pending'
  /** The application's stored data is erased or cannot be read. */
  | 'unreadable';

/** A fee of a loan in minor units. */
interface FeeAmount {
  readonly fee: Fee;
  readonly amount: bigint;
}

/** A loan with everything that a contract says about it. */
export interface PricedLoan {
  readonly kind: 'priced';
  readonly loan: Loan;
  readonly principal: bigint;
  readonly fees: readonly FeeAmount[];
  /** A percentage with two digits: `26.82`. */
  readonly annualRate: string;
  /** Until when a contract may be signed. */
  readonly expiresAt: Date;
}

export type Priced = PricedLoan | { readonly kind: 'blocked'; readonly reason: BlockReason };

/** The loan of an amount at an instant. */
export function priceLoan(
  terms: CountryTerms,
  debt: { amount: number; currency: string },
  now: Date,
): Priced {
  const { currency } = terms;
  if (debt.currency !== currency) return blocked('wrong_currency');
  const principal = toMinor(debt.amount, currency);
  if (principal < toMinor(terms.minimum, currency)) return blocked('below_minimum');
  if (principal > toMinor(terms.maximum, currency)) return blocked('above_limit');
  const fees = terms.fees.map((fee) => ({ fee, amount: feeAmount(fee, principal, currency) }));
  const sum = (when: Fee['when']) =>
    fees.reduce((total, { fee, amount }) => (fee.when === when ? total + amount : total), 0n);
  const loan = loanOf({
    principal,
    monthlyRate: asFraction(readDecimal(terms.monthly_rate)),
    months: terms.months,
    deducted: sum('deducted'),
    monthlyFee: sum('monthly'),
  });
  if (loan === null) return blocked('below_minimum');
  const rate = annualRateOf(loan);
  if (rate === null) return blocked('above_maximum');
  const date = localDate(now, terms.zone);
  const today = maximumFault(terms, date, rate);
  if (today !== null) return blocked(today);
  return {
    kind: 'priced',
    loan,
    principal,
    fees,
    annualRate: percentText(rate),
    expiresAt: expiry(terms, date, rate),
  };
}

function blocked(reason: BlockReason): Priced {
  return { kind: 'blocked', reason };
}

function asFraction({ units, scale }: Decimal): Decimal {
  return { units, scale: scale + 2 };
}

function feeAmount({ amount, percent }: Fee, principal: bigint, currency: string): bigint {
  if (amount !== undefined) return toMinor(amount, currency);
  const { units, scale } = asFraction(readDecimal(percent ?? '0'));
  return divideRounded(principal * units, power(scale));
}

/** Why a rate, in hundredths of a percent, is not allowed on a date; null: it is allowed. */
function maximumFault(
  terms: CountryTerms,
  date: string,
  rate: bigint,
): 'no_maximum' | 'above_maximum' | null {
  if (terms.legal_maximum === 'none') return null;
  const maximum = terms.legal_maximum[date.slice(0, 7)];
  if (maximum === undefined) return 'no_maximum';
  // Compared at four digits, as exact as any published maximum.
  return rate * 100n > unitsAt(readDecimal(maximum), 4) ? 'above_maximum' : null;
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
  readonly monthlyRate: string;
  readonly annualRate: string;
  /** The country's word for it. */
  readonly rateName: string;
  readonly lender: string;
  readonly demonstration: boolean;
}

/** The offer of a priced loan. */
export function offerOfLoan(
  terms: CountryTerms,
  country: Country,
  { loan, principal, annualRate }: PricedLoan,
  { language, demonstration }: { readonly language: 'es' | 'pt' | 'en'; readonly demonstration: boolean },
): Offer {
  const { currency } = terms;
  const money = (minor: bigint) => moneyText(minor, currency);
  return {
    kind: 'offer',
    amount: money(principal),
    currency,
    installment: money(loan.installment),
    months: terms.months,
    total: money(loan.total),
    net: money(loan.net),
    monthlyRate: terms.monthly_rate,
    annualRate,
    rateName: rateNameOf(country, language),
    lender: terms.lender.name,
    demonstration,
  };
}
