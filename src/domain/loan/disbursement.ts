/**
 * What was paid out of a signed contract, line by line (D45, D46; docs/signing.md, "The payment"). `payees.ts` has what
 * the contract lists.
 */

/** A sum that was paid to somebody, as an operator states it. */
export interface PaidLine {
  /** The creditor, or `applicant`. */
  readonly payee: string;
  /** An exact decimal of the contract's currency. */
  readonly amount: string;
  /** How the bank names the payment. */
  readonly reference: string;
  /** The day on which the payee can use the money: YYYY-MM-DD. */
  readonly valueDate: string;
}

/** `paid`: money went to the payee. `returned`: the money of an earlier line came back. */
export type LineKind = 'paid' | 'returned';

/**
 * Why a payment needs the override of two operators: the lines are others than the contract's list, the terms of the
 * day have nothing for the country or the month, or the rate is above the legal maximum of the day.
 */
export const PAYMENT_OBJECTIONS = ['lines_differ', 'no_terms', 'no_maximum', 'above_maximum'] as const;
export type PaymentObjection = (typeof PAYMENT_OBJECTIONS)[number];
