/**
 * What a loan takes of the income: the installment against the observed income, else the declared one
 * (docs/operators.md, "One application"). Pure.
 */
import type { Installment } from '../../../domain/loan/installment.ts';

/** Where the income comes from: documents, a correction, or the partner. The first that there is counts. */
export const INCOME_SOURCES = ['observed', 'corrected', 'declared'] as const;
/**
 * By what the installment is told: the contract that the applicant has read or signed, or else the loan terms of the
 * day. Those of the demonstration bind nobody.
 */
export const INSTALLMENT_SOURCES = ['contract', 'terms', 'demonstration_terms'] as const;

/** Monthly incomes in units of the application's currency; null: there is none. */
export type Incomes = Readonly<Record<(typeof INCOME_SOURCES)[number], number | null>>;

export interface Capacity {
  /** An exact decimal of the application's currency; null: `unpriced` says why. */
  readonly installment: string | null;
  readonly months: number | null;
  readonly unpriced: Installment['unpriced'];
  readonly installmentBy: (typeof INSTALLMENT_SOURCES)[number];
  readonly income: number | null;
  readonly incomeBy: (typeof INCOME_SOURCES)[number];
  /** The installment by the income, to four digits; null: one of them is not known. */
  readonly share: number | null;
}

/** `by`: what tells the installment. */
export function capacityOf(
  { amount, months, unpriced }: Installment,
  incomes: Incomes,
  by: Capacity['installmentBy'],
): Capacity {
  const incomeBy = INCOME_SOURCES.find((source) => incomes[source] !== null) ?? 'declared';
  const income = incomes[incomeBy];
  const share = shareOf(amount, income);
  return { installment: amount, months, unpriced, installmentBy: by, income, incomeBy, share };
}

/** The same with the installment of a contract, whatever the terms of the day say. */
export function withContract(
  capacity: Capacity,
  { installment, months }: { readonly installment: string; readonly months: number },
): Capacity {
  const share = shareOf(installment, capacity.income);
  return { ...capacity, installment, months, unpriced: null, installmentBy: 'contract', share };
}

function shareOf(installment: string | null, income: number | null): number | null {
  if (installment === null || income === null || income <= 0) return null;
  return Math.round((Number(installment) / income) * 10_000) / 10_000;
}
