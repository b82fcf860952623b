/**
 * A debt that a loan consolidates, and the rules of a list of debts (D52; docs/signing.md, "The debts"). Pure.
 */
import { readableText } from '../../ground/base/plain-text.ts';
import { minorDigits, moneyText, toMinor } from '../money/money.ts';

/** Who or what told a debt. */
export const TOLD_BY = ['applicant', 'document', 'operator'] as const;
export type ToldBy = (typeof TOLD_BY)[number];

/** What is known about a debt. The dates are YYYY-MM-DD. */
export interface Debt {
  readonly creditor: string;
  /** The number of the account or credit; null: it was not told. */
  readonly reference: string | null;
  /** An exact decimal in the currency of the application, such as `1500000` or `1500.50`. */
  readonly balance: string;
  /** The day on which the balance was this one. */
  readonly asOf: string;
  /** The day since which a payment is missing; null: it was not told. */
  readonly overdueSince: string | null;
}

/** The most debts of one application. */
export const MOST_DEBTS = 20;
/** The name of the payee of the applicant's own part, so no creditor has this name. */
export const APPLICANT_PAYEE = 'applicant';
const MOST_CREDITOR = 80;
const MOST_REFERENCE = 64;

/** A rule that a debt breaks. */
export interface DebtFault {
  readonly field: 'creditor' | 'reference' | 'balance' | 'currency' | 'as_of' | 'overdue_since' | 'debts';
  readonly rule: string;
}

const BALANCE = /^(?:0|[1-9]\d{0,14})(?:\.(\d{1,3}))?$/;

/** Which rule a debt breaks by itself; null: none. `today` is the day in the country of the applicant. */
export function debtFault(debt: Debt, currency: string, today: string): DebtFault | null {
  const { creditor, reference, balance, asOf, overdueSince } = debt;
  if (readableText(creditor, MOST_CREDITOR) !== creditor || !/\p{L}/u.test(creditor))
    return {
      field: 'creditor',
      rule: `must be text of 1 to ${MOST_CREDITOR} characters in one line, with a letter`,
    };
  if (reference !== null && readableText(reference, MOST_REFERENCE) !== reference)
    return { field: 'reference', rule: `must be text of 1 to ${MOST_REFERENCE} characters in one line` };
  if (folded(creditor) === APPLICANT_PAYEE)
    return {
      field: 'creditor',
      rule: `must not be ${APPLICANT_PAYEE}, which stands for the applicant's own part`,
    };
  const digits = minorDigits(currency);
  const [whole, decimals = ''] = BALANCE.exec(balance) ?? [];
  if (whole === undefined || decimals.length > digits || toMinor(balance, currency) === 0n) {
    const form = digits === 0 ? 'a whole number' : `a number with at most ${digits} decimals`;
    return { field: 'balance', rule: `must be ${form} above zero in ${currency}, such as 1500000` };
  }
  if (asOf > today) return { field: 'as_of', rule: 'must not be after today' };
  if (overdueSince !== null && overdueSince > asOf)
    return { field: 'overdue_since', rule: 'must not be after as_of' };
  return null;
}

/** Which rule a list breaks that these debts are added to; null: none. */
export function listFault(
  listed: readonly Debt[],
  added: readonly Debt[],
  currency: string,
): DebtFault | null {
  if (listed.length + added.length > MOST_DEBTS)
    return { field: 'debts', rule: `must be at most ${MOST_DEBTS}` };
  const seen = new Set(listed.map((debt) => keyOf(debt, currency)));
  for (const debt of added) {
    const key = keyOf(debt, currency);
    if (seen.has(key))
      return { field: 'debts', rule: 'has this debt already: the same creditor, reference and balance' };
    seen.add(key);
  }
  return null;
}

/** The debts that a list does not have yet, whatever their spelling. */
export function notListed(listed: readonly Debt[], debts: readonly Debt[], currency: string): Debt[] {
  const keys = new Set(listed.map((debt) => keyOf(debt, currency)));
  return debts.filter((debt) => !keys.has(keyOf(debt, currency)));
}

/** The listed debts without a reference that are one of these debts, each of which has its reference. */
export function withoutReference<T extends Debt>(
  listed: readonly T[],
  debts: readonly Debt[],
  currency: string,
): T[] {
  const known = debts.filter(({ reference }) => reference !== null);
  const keys = new Set(known.map((debt) => keyOf({ ...debt, reference: null }, currency)));
  return listed.filter((debt) => debt.reference === null && keys.has(keyOf(debt, currency)));
}

/** Whether two lists have the same debts, whatever their order and spelling. */
export function areSame(some: readonly Debt[], others: readonly Debt[], currency: string): boolean {
  const keys = new Set(some.map((debt) => keyOf(debt, currency)));
  return some.length === others.length && others.every((debt) => keys.has(keyOf(debt, currency)));
}

/** Two debts with the same key are one: spelling and separators do not count. */
function keyOf({ creditor, reference, balance }: Debt, currency: string): string {
  return JSON.stringify([folded(creditor), folded(reference ?? ''), `${toMinor(balance, currency)}`]);
}

/** Letters and digits alone, without accents and in one case. */
function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[^\p{L}\p{Nd}]/gu, '')
    .toLowerCase();
}

/** The sum of balances in minor units. */
export function sumOf(debts: readonly Pick<Debt, 'balance'>[], currency: string): bigint {
  return debts.reduce((sum, { balance }) => sum + toMinor(balance, currency), 0n);
}

/** A part of the declared amount by which the sum of the debts may differ: 1 / 10 (D52). */
const TOLERANCE = 10n;

/** Why an operator has to look at a list before an offer is made; null: nobody has to (D52). */
export type DebtBlock = 'debts_differ' | 'debts_above_net';

/**
 * Compares the sum of the debts with the declared amount, and with what is paid out. All are minor units. Exactly 10 %
 * off is fine. No list can be accepted that is above what is paid out, because nobody could pay it.
 */
export function debtBlock(
  sum: bigint,
  {
    declared,
    net,
    isAccepted,
  }: { readonly declared: bigint; readonly net: bigint; readonly isAccepted: boolean },
): DebtBlock | null {
  if (sum > net) return 'debts_above_net';
  const difference = sum > declared ? sum - declared : declared - sum;
  return !isAccepted && difference * TOLERANCE > declared ? 'debts_differ' : null;
}

/** The sum of balances as an exact decimal. */
export function sumText(debts: readonly Pick<Debt, 'balance'>[], currency: string): string {
  return moneyText(sumOf(debts, currency), currency);
}
