/** The installments of a loan that is paid out, with their days (D45; docs/signing.md, "The payment"). Pure. */
import { addMonths } from '../../../domain/loan/local-day.ts';
import { PLANNED, type StoredContract } from '../sql/contracts.ts';

/** An installment of the final schedule: the day on which it is due, and its amounts as exact decimals. */
export type DueInstallment = { readonly due: string } & Readonly<Record<(typeof PLANNED)[number], string>>;

/**
 * The installments of a contract with their days, counted from the latest value date of the payment; null: nothing is
 * paid out, or the contract is of version 1.0, which does not keep its installments.
 */
export function installmentsOf({ terms, disbursedOn }: StoredContract): DueInstallment[] | null {
  if (disbursedOn === null || terms.payments === undefined) return null;
  return terms.payments.map((amounts, index) => {
    const named = Object.fromEntries(PLANNED.map((name, place) => [name, amounts[place]!]));
    return { due: addMonths(disbursedOn, index + 1), ...named } as DueInstallment;
  });
}
