/**
 * Exact decimals as whole numbers (bigint) and their powers of ten. Pure. Contracts use no floating point, because a
 * cent that a rounding adds makes a contract wrong (D45). JavaScript's bigint does all that is needed, so no library is
 * used.
 */

/** A decimal: `units` / 10 ^ `scale`. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

const FORM = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/i;

/** Reads `12`, `12.5` or `1.25e6`. Throws a `RangeError` for another text. */
export function readDecimal(text: string): Decimal {
  const [, whole, part = '', exponent = '0'] = FORM.exec(text) ?? [];
  if (whole === undefined) throw new RangeError('must be a decimal such as 12 or 12.5');
  const scale = part.length - Number(exponent);
  const units = BigInt(whole + part);
  return scale >= 0 ? { units, scale } : { units: units * power(-scale), scale: 0 };
}

/** 10 ^ `exponent`. */
export function power(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

/** `dividend` / `divisor` to the nearest whole number; a half goes up. Both are not negative. */
export function divideRounded(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}

/** The units of a decimal at another scale, rounded. */
export function unitsAt({ units, scale }: Decimal, wanted: number): bigint {
  return wanted >= scale ? units * power(wanted - scale) : divideRounded(units, power(scale - wanted));
}

/** Writes units with a fixed number of digits after the point: `1234.50`. */
export function writeDecimal(units: bigint, scale: number): string {
  const digits = units.toString().padStart(scale + 1, '0');
  return scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
