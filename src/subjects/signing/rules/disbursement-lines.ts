/**
 * The rules of the lines of a payment: their form, their days, and how they are compared with the contract's list (D45,
 * D46; docs/signing.md, "The payment"). Pure. A text about a fault names the line and the field, and no value.
 */
import type { LineKind, PaidLine } from '../../../domain/loan/disbursement.ts';
import { addDays } from '../../../domain/loan/local-day.ts';
import type { Payee } from '../../../domain/loan/payees.ts';
import { minorDigits, moneyText, toMinor } from '../../../domain/money/money.ts';
import { isCalendarDay } from '../../../ground/base/clock.ts';
import { readableText } from '../../../ground/base/plain-text.ts';
import { ToldError } from '../../../ground/base/told-error.ts';

/** A line has a wrong form, or may not be recorded. */
export class LineError extends ToldError {
  override readonly name = 'LineError';
}

/** The most lines of one payment. */
export const MOST_LINES = 40;
/** Banks announce a value date a few days ahead. A later day is a typing error. */
export const VALUE_DAYS_AHEAD = 5;
/** The most characters of a payee and of a reference. */
const LONGEST = 200;

const MEMBERS = ['payee', 'amount', 'reference', 'value-date'] as const;
/** What a line may say beside them. */
const MORE = ['currency', 'proof'] as const;

/** A line as it was typed: `currency` is compared with that of the contract, `proof` names a file. */
export interface TypedLine extends PaidLine {
  readonly currency: string | null;
  readonly proof: string | null;
}

/** Reads `payee=...;amount=...;reference=...;value-date=...`. Throws `LineError` that names the field. */
export function readLine(text: string): TypedLine {
  const values = membersOf(text, [...MEMBERS, ...MORE], MEMBERS);
  return {
    payee: values.get('payee')!,
    amount: values.get('amount')!,
    reference: values.get('reference')!,
    valueDate: values.get('value-date')!,
    currency: values.get('currency') ?? null,
    proof: values.get('proof') ?? null,
  };
}

/** The members of a line by name. Throws `LineError` where one is unknown, twice there, empty or missing. */
export function membersOf(
  text: string,
  known: readonly string[],
  required: readonly string[],
): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const part of text.split(';')) {
    if (part.trim() === '') continue;
    const [name = '', ...rest] = part.split('=');
    const key = name.trim();
    if (rest.length === 0 || !known.includes(key))
      throw new LineError(`a line has ${required.join(', ')}, each as NAME=VALUE with ; between`);
    if (values.has(key)) throw new LineError(`a line has ${key} twice`);
    values.set(key, rest.join('=').trim());
  }
  const missing = required.find((name) => (values.get(name) ?? '') === '');
  if (missing !== undefined) throw new LineError(`a line needs ${missing}`);
  return values;
}

/** What lines are checked against. */
export interface LinesFrame {
  readonly currency: string;
  /** The day of the signature, and the present day, on the country's wall clock: YYYY-MM-DD. */
  readonly signedOn: string;
  readonly today: string;
}

/** The lines, with amounts in the form of the currency. Throws `LineError` for the first fault. */
export function checkLines<Line extends PaidLine & { readonly currency?: string | null }>(
  lines: readonly Line[],
  frame: LinesFrame,
): PaidLine[] {
  if (lines.length > MOST_LINES) throw new LineError(`a payment has at most ${MOST_LINES} lines`);
  const checked = lines.map((line, index) => checkLine(line, index + 1, frame));
  const seen = new Map<string, number>();
  for (const [index, line] of checked.entries()) {
    const key = JSON.stringify([foldPayee(line.payee), line.amount, line.reference, line.valueDate]);
    const before = seen.get(key);
    if (before !== undefined) throw new LineError(`line ${index + 1} repeats line ${before}`);
    seen.set(key, index + 1);
  }
  return checked;
}

function checkLine(
  line: PaidLine & { readonly currency?: string | null },
  number: number,
  frame: LinesFrame,
): PaidLine {
  const fail = (field: string, rule: string) => new LineError(`line ${number}: ${field} ${rule}`);
  const [payee, reference] = (['payee', 'reference'] as const).map((field) => {
    const text = readableText(line[field], LONGEST);
    if (text === null)
      throw fail(field, `must be one line of 1 to ${LONGEST} characters without invisible ones`);
    return text;
  }) as [string, string];
  const { currency, signedOn, today } = frame;
  if ((line.currency ?? currency).toUpperCase() !== currency)
    throw fail('currency', `must be ${currency}, that of the contract`);
  const amount = checkAmount(line.amount, currency);
  if (amount === null)
    throw fail(
      'amount',
      `must be a decimal over 0 with at most ${minorDigits(currency)} digits after a point`,
    );
  const { valueDate } = line;
  if (!isCalendarDay(valueDate)) throw fail('value-date', 'must be a day: YYYY-MM-DD');
  if (valueDate < signedOn) throw fail('value-date', `must not be before the signature, ${signedOn}`);
  if (valueDate > addDays(today, VALUE_DAYS_AHEAD))
    throw fail('value-date', `must not be more than ${VALUE_DAYS_AHEAD} days ahead of today, ${today}`);
  return { payee, amount, reference, valueDate };
}

/** The amount in the form of the currency; null: it is no such amount, or none at all. Nothing is rounded. */
function checkAmount(text: string, currency: string): string | null {
  const [, fraction = ''] = /^\d{1,15}(?:\.(\d{1,3}))?$/.exec(text) ?? ['', 'none'];
  if (fraction.length > minorDigits(currency)) return null;
  const minor = toMinor(text, currency);
  return minor === 0n ? null : moneyText(minor, currency);
}

/** A payee as names are compared: without differences of capitals, spaces and forms of letters. */
export function foldPayee(payee: string): string {
  return payee.normalize('NFKC').replaceAll(/\s+/gu, ' ').trim().toLowerCase();
}

/** A line that is already recorded. */
export interface RecordedLine extends PaidLine {
  readonly number: number;
  readonly kind: LineKind;
  /** The number of the line that came back; null: this line was paid. */
  readonly returned: number | null;
}

/** What each payee has, by the folded name: what was paid without what came back, in minor units. */
export function balancesOf(
  lines: readonly Pick<RecordedLine, 'payee' | 'amount' | 'kind'>[],
  currency: string,
): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { payee, amount, kind } of lines) {
    const minor = toMinor(amount, currency);
    const name = foldPayee(payee);
    sums.set(name, (sums.get(name) ?? 0n) + (kind === 'paid' ? minor : -minor));
  }
  return sums;
}

/** What the contract's list gives each payee, in the form of `balancesOf`. */
export function wantedOf(payees: readonly Payee[], currency: string): Map<string, bigint> {
  return balancesOf(
    payees.map(({ payee, amount }) => ({ payee, amount, kind: 'paid' })),
    currency,
  );
}

/**
 * How what the payees have differs from the contract's list, in one line; null: it does not. Several lines of one payee
 * count together. `isPart`: less than the list is no difference, as for a sum that is paid again.
 */
export function differenceOf(
  balances: ReadonlyMap<string, bigint>,
  wanted: ReadonlyMap<string, bigint>,
  isPart = false,
): string | null {
  const strangers = [...balances].filter(([name, sum]) => !wanted.has(name) && sum !== 0n).length;
  const others = [...wanted].filter(([name, sum]) => {
    const has = balances.get(name) ?? 0n;
    return isPart ? has > sum : has !== sum;
  }).length;
  const faults = [
    ...(strangers > 0 ? [`${strangers} of the payees not in it`] : []),
    ...(others > 0 ? [`${others} of its ${wanted.size} with another sum`] : []),
  ];
  return faults.length === 0 ? null : `the lines differ from the contract's list: ${faults.join(', ')}`;
}
