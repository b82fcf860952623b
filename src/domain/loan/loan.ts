/**
 * Computes the schedule of a loan of level installments, in exact minor units (D45; docs/signing.md, "The loan"). Pure.
 */
import { type Decimal, divideRounded, power } from '../money/decimal.ts';

/** What a loan is made of. Amounts are in minor units, rates are fractions: 0.02 a month. */
export interface LoanTerms {
  readonly principal: bigint;
  readonly monthlyRate: Decimal;
  readonly months: number;
  /** Taken off what is paid out. */
  readonly deducted: bigint;
  /** Added to each installment. */
  readonly monthlyFee: bigint;
  /** The tax on `monthlyFee`, added to each installment too. */
  readonly monthlyFeeTax: bigint;
  /** The fixed premiums of insurances, added to each installment. */
  readonly monthlyInsurance: bigint;
  /** The tax on the interest, as a part of it. */
  readonly interestTax: Decimal;
  /** The premium of an insurance each month, as a part of the balance before the payment. */
  readonly insurance: Decimal;
}

/** One month of the schedule. */
export interface Payment {
  readonly month: number;
  /** What the applicant pays: principal, interest, tax, insurance and fee. */
  readonly payment: bigint;
  readonly interest: bigint;
  readonly principal: bigint;
  /** The tax on interest and fee. */
  readonly tax: bigint;
  readonly insurance: bigint;
  readonly fee: bigint;
  /** What is owed afterwards. */
  readonly balance: bigint;
}

export interface Loan {
  /** The payment of every month but the last one, which takes what rounding left over. */
  readonly installment: bigint;
  readonly payments: readonly Payment[];
  /** The sum of all payments. */
  readonly total: bigint;
  /** What is paid out. */
  readonly net: bigint;
}

/**
 * The schedule of a loan whose payments are all equal but the last one: an annuity over interest, its tax and the
 * insurance of the balance, with fees and fixed premiums on top. The installment is rounded to the minor unit, and so
 * are interest, tax and premium of each month. Null if the amount is too small for so many months, or if the fees leave
 * nothing to pay out.
 */
export function loanOf(terms: LoanTerms): Loan | null {
  const { principal, monthlyRate, months, deducted, monthlyFee, monthlyFeeTax } = terms;
  const level = levelPayment(terms);
  const payments: Payment[] = [];
  let balance = principal;
  for (let month = 1; month <= months; month += 1) {
    const interest = part(balance, monthlyRate);
    const interestTax = part(interest, terms.interestTax);
    const premium = part(balance, terms.insurance);
    const repaid = month === months ? balance : level - interest - interestTax - premium;
    // Rounding may pay a tiny loan back too early, or never.
    if (repaid <= 0n || repaid > balance) return null;
    balance -= repaid;
    const tax = interestTax + monthlyFeeTax;
    const insurance = premium + terms.monthlyInsurance;
    const payment = interest + repaid + tax + insurance + monthlyFee;
    payments.push({ month, payment, interest, principal: repaid, tax, insurance, fee: monthlyFee, balance });
  }
  const net = principal - deducted;
  if (net <= 0n) return null;
  const total = payments.reduce((sum, { payment }) => sum + payment, 0n);
  return { installment: level + monthlyFee + monthlyFeeTax + terms.monthlyInsurance, payments, total, net };
}

/** A part of an amount, rounded. */
export function part(amount: bigint, { units, scale }: Decimal): bigint {
  return divideRounded(amount * units, power(scale));
}

/** The annuity p q (1 + q)^n / ((1 + q)^n - 1), exact until the one rounding at its end. */
function levelPayment({ principal, months, ...terms }: LoanTerms): bigint {
  const { units, scale } = monthlyCost(terms);
  if (units === 0n) return divideRounded(principal, BigInt(months));
  const one = power(scale);
  const grown = (one + units) ** BigInt(months);
  return divideRounded(principal * units * grown, one * (grown - one ** BigInt(months)));
}

/** What a unit of balance costs a month: interest, its tax, and insurance. */
function monthlyCost({
  monthlyRate: rate,
  interestTax: tax,
  insurance,
}: Pick<LoanTerms, 'monthlyRate' | 'interestTax' | 'insurance'>): Decimal {
  const scale = rate.scale + tax.scale + insurance.scale;
  const taxed = rate.units * (power(tax.scale) + tax.units) * power(insurance.scale);
  return { units: taxed + insurance.units * power(rate.scale + tax.scale), scale };
}
