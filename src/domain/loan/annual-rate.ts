/**
 * The annual effective rate of a loan with its fees (D45): the rate at which the payments are worth what was paid out.
 * Found by bisection in decimals of 30 digits. Pure.
 */
import { divideRounded, power, writeDecimal } from '../money/decimal.ts';
import type { Loan } from './loan.ts';

const ONE = power(30);
/** 1,000 % a month. A loan above it counts as one without a rate. */
const HIGHEST = 10n * ONE;

/** The monthly rate, times 10^30; null where it is above 1,000 % a month. */
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

/** The annual effective rate in hundredths of a percent; null where it is beyond all sense. */
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
