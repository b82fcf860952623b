/**
 * Yearly rates of a loan, exact to 30 digits (D45; docs/signing.md, "The loan"). The rate of payments is the one at
 * which the payments are worth what was paid out. Newton's method finds it. Pure.
 */
import { type Decimal, divideRounded, power, readDecimal, unitsAt, writeDecimal } from '../money/decimal.ts';

/** Digits of the rates here: a rate is a fraction of a year or a month, times 10^30. */
const RATE_DIGITS = 30;
const ONE = power(RATE_DIGITS);
/** 1,000 % a month. A loan above it counts as one without a rate. */
const HIGHEST = 10n * ONE;

/**
 * The yearly effective rate at which monthly payments, the first one a month after the paying out, are worth `net`;
 * null if it is above 1,000 % a month.
 */
export function effectiveRateOf(payments: readonly bigint[], net: bigint): bigint | null {
  const worth = net * ONE;
  if (presentValue(payments, HIGHEST) > worth) return null;
  // The worth falls ever more slowly with the rate, so no step from below leads past the rate.
  let rate = 0n;
  for (let step = 1n; step > 0n; rate += step) {
    step = ((presentValue(payments, rate) - worth) * ONE) / slopeAt(payments, rate);
    if (step < 0n) break;
  }
  while (presentValue(payments, rate) > worth) rate += 1n;
  return compound(rate);
}

/** How fast the worth falls at a monthly rate, times 10^30. */
function slopeAt(payments: readonly bigint[], rate: bigint): bigint {
  let [discount, slope] = [(ONE * ONE) / (ONE + rate), 0n];
  const each = discount;
  payments.forEach((payment, index) => {
    discount = (discount * each) / ONE;
    slope += BigInt(index + 1) * payment * discount;
  });
  return slope;
}

/** What payments are worth today at a monthly rate, times 10^30. */
export function presentValue(payments: readonly bigint[], monthlyRate: bigint): bigint {
  return payments.reduceRight((value, payment) => ((value + payment * ONE) * ONE) / (ONE + monthlyRate), 0n);
}

/** The yearly rate of a monthly one, with compound interest or twelve times. */
export function annualRateOf(monthly: Decimal, kind: 'effective' | 'nominal'): bigint {
  const rate = unitsAt(monthly, RATE_DIGITS);
  return kind === 'nominal' ? 12n * rate : compound(rate);
}

function compound(monthly: bigint): bigint {
  let grown = ONE;
  for (let month = 1; month <= 12; month += 1) grown = divideRounded(grown * (ONE + monthly), ONE);
  return grown - ONE;
}

/** Digits of a percentage, as laws and their tables have them. */
const PERCENT_DIGITS = 2;

/** A rate as a percentage with two digits: `26.82`. */
export function percentText(rate: bigint): string {
  return writeDecimal(divideRounded(rate * power(2 + PERCENT_DIGITS), ONE), PERCENT_DIGITS);
}

/** The rate, times 10^30, of a percentage such as `21.37`. */
export function rateOfPercent(percent: string): bigint {
  const { units, scale } = readDecimal(percent);
  return unitsAt({ units, scale: scale + 2 }, RATE_DIGITS);
}

/** Whether a rate is above a maximum in percent. Nothing is rounded. */
export function isAbove(rate: bigint, maximum: Decimal): boolean {
  return rate * power(maximum.scale + 2) > maximum.units * ONE;
}
