/**
 * Computes the schedule of a loan of level installments, in exact minor units (D45; docs/signing.md, "The loan"). Pure.
 */
import { type Decimal, divideRounded, power } from '../money/decimal.ts';

/** What a loan is made of. Amounts are in minor units. */
export interface LoanTerms {
  readonly principal: bigint;
  /** A fraction, not a percentage: 0.02 a month. */
  readonly monthlyRate: Decimal;
  readonly months: number;
  /** Taken off what is paid out. */
  readonly deducted: bigint;
  /** Added to each installment. */
  readonly monthlyFee: bigint;
}

/** One month of the schedule. */
export interface Payment {
  readonly month: number;
  /** What the applicant pays: interest, principal and fee. */
  readonly payment: bigint;
  readonly interest: bigint;
  readonly principal: bigint;
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
 * The schedule of a loan. Each installment is rounded to the minor unit, and so is the interest of each month. Null if
 * the amount is too small for so many months, or if the fees leave nothing to pay out.
 */
export function loanOf({ principal, monthlyRate, months, deducted, monthlyFee }: LoanTerms): Loan | null {
  const level = levelPayment(principal, monthlyRate, months);
  const payments: Payment[] = [];
  let balance = principal;
  for (let month = 1; month <= months; month += 1) {
    const interest = divideRounded(balance * monthlyRate.units, power(monthlyRate.scale));
    const repaid = month === months ? balance : level - interest;
    // Rounding may pay a tiny loan back too early, or never.
    if (repaid <= 0n || repaid > balance) return null;
    balance -= repaid;
    const payment = interest + repaid + monthlyFee;
    payments.push({ month, payment, interest, principal: repaid, fee: monthlyFee, balance });
  }
  const net = principal - deducted;
  if (net <= 0n) return null;
  const total = payments.reduce((sum, { payment }) => sum + payment, 0n);
  return { installment: level + monthlyFee, payments, total, net };
}

/** The annuity of `principal`: p r (1 + r)^n / ((1 + r)^n - 1), exact until the one rounding at its end. */
function levelPayment(principal: bigint, { units, scale }: Decimal, months: number): bigint {
  if (units === 0n) return divideRounded(principal, BigInt(months));
  const one = power(scale);
  const grown = (one + units) ** BigInt(months);
  return divideRounded(principal * units * grown, one * (grown - one ** BigInt(months)));
}
