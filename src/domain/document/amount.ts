/**
 * Reads amounts of money as statements write them, in hundredths: whole numbers, so that sums are exact. Pure.
 * docs/documents.md ("Layouts") says where they come from.
 */

/** Which character begins the decimals; null: the amount itself tells. */
export type DecimalMark = ',' | '.' | null;

/** A number with more digits is not an amount. */
const MOST = 9e13;
const AMOUNT =
  /(?<![\d.,])(-?)\s?(?:[A-Z]{0,3}\$|S\/\.?|[A-Z]{3})?\s?(-?)(\d{1,3}(?:[.,]\d{3})+|\d{1,13})([.,]\d{1,2})?(?![\d.,]*\d)/g;

/** The amounts of a text in their order, in hundredths. An amount in an unknown form is left out. */
export function amountsIn(text: string, mark: DecimalMark = null): number[] {
  return [...text.matchAll(AMOUNT)].flatMap(([, minus, later, whole = '', decimals = '']) => {
    const amount = hundredths(whole, decimals, mark);
    if (amount === null) return [];
    return [minus === '-' || later === '-' ? -amount : amount];
  });
}

function hundredths(whole: string, decimals: string, mark: DecimalMark): number | null {
  const grouping = whole.match(/[.,]/g) ?? [];
  if (new Set(grouping).size > 1) return null;
  const [group] = grouping;
  const point = decimals.slice(0, 1);
  if (point !== '' && (point === group || (mark !== null && point !== mark))) return null;
  if (mark !== null && group === mark) return null;
  const value = Number(whole.replace(/[.,]/g, '')) * 100 + Number(decimals.slice(1).padEnd(2, '0'));
  return value <= MOST ? value : null;
}

const PLAIN = /^(\d{1,13})(?:\.(\d{1,2}))?$/;

/** An amount as this program writes it (`1234567.50`), in hundredths; null for another text. */
export function readAmount(text: string): number | null {
  const [, whole, decimals = ''] = PLAIN.exec(text) ?? [];
  if (whole === undefined) return null;
  const value = Number(whole) * 100 + Number(decimals.padEnd(2, '0'));
  return value <= MOST ? value : null;
}

/** An amount of hundredths as `1234567.50`. */
export function writeAmount(value: number): string {
  const digits = String(Math.abs(value)).padStart(3, '0');
  return `${value < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
