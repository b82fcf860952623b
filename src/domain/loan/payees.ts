/**
 * Who gets the money of a loan: each creditor its balance, and the applicant what is left (D52). Pure.
 */
import { moneyText, toMinor } from '../money/money.ts';
import { APPLICANT_PAYEE, type Debt, sumOf, sumText } from './debt.ts';

/** A line of what is paid out. */
export interface Payee {
  readonly kind: 'creditor' | 'applicant';
  /** The creditor's name, or `applicant`. */
  readonly payee: string;
  /** An exact decimal in the currency of the loan. */
  readonly amount: string;
  /** The creditor's number of the debt; null: it is not known. */
  readonly reference: string | null;
  /** null: the applicant's own part. */
  readonly debtId: number | null;
}

/**
 * The lines that pay these debts of what is paid out (`net`, an exact decimal), in the order of the debts; the
 * applicant comes last, and has no line if nothing is left. The amounts add up to `net`. Throws a `RangeError` if the
 * debts are more than that.
 */
export function payeesOf(
  debts: readonly (Debt & { readonly id: number })[],
  { net, currency }: { readonly net: string; readonly currency: string },
): readonly Payee[] {
  const left = toMinor(net, currency) - sumOf(debts, currency);
  if (left < 0n) throw new RangeError('the debts are more than what is paid out');
  const creditors = debts.map(({ id, creditor, reference, balance }) => ({
    kind: 'creditor' as const,
    payee: creditor,
    amount: moneyText(toMinor(balance, currency), currency),
    reference,
    debtId: id,
  }));
  if (left === 0n) return creditors;
  const amount = moneyText(left, currency);
  return [...creditors, { kind: 'applicant', payee: APPLICANT_PAYEE, amount, reference: null, debtId: null }];
}

/** What an offer says about who is paid. The amounts are exact decimals. */
export interface Paying {
  /** The ids of the debts that are paid, in their order. */
  readonly debts: readonly number[];
  /** What all creditors get. */
  readonly creditors: string;
  /** What reaches the applicant. */
  readonly toApplicant: string;
}

/** What is paid to creditors and to the applicant. Throws a `RangeError` as `payeesOf` does. */
export function payingOf(...given: Parameters<typeof payeesOf>): Paying {
  const [debts, { currency }] = given;
  const last = payeesOf(...given).at(-1);
  return {
    debts: debts.map(({ id }) => id),
    creditors: sumText(debts, currency),
    toApplicant: last?.kind === 'applicant' ? last.amount : moneyText(0n, currency),
  };
}
