/** The one applicant of the tests, who is approved. A test says only in what its own applicants differ. */
import type { Application } from '../../src/domain/application/fields.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';

/** An applicant of Colombia, in the words of the API. */
export const APPLICANT = {
  name: 'Ana Gómez',
  id_number: '1020304050',
  city: 'Bogotá',
  phone: '+573005550101',
  income: 3_200_000,
  debt_amount: 6_000_000,
  num_debts: '1',
  debt_age: 'lt6',
  prior_history: 'yes',
  messaging_optin: true,
} as const;
/** The same with the fields that only some channels send. */
export const GIG_APPLICANT = { ...APPLICANT, platform: 'rappi', currency: 'COP' } as const;
/** An applicant of Mexico, whom a message may reach at any hour of a weekday. */
export const MEXICAN = {
  ...GIG_APPLICANT,
  city: 'Puebla',
  currency: 'MXN',
  income: 25_000,
  debt_amount: 22_000,
} as const;

/** The application of this applicant, in its normal form. */
export function applicant(changes: Partial<Application> = {}): Application {
  return { ...GIG_APPLICANT, phone: toPhone(GIG_APPLICANT.phone), ...changes };
}

/** What makes an application an approved one. */
export const APPROVED = {
  income: APPLICANT.income,
  num_debts: APPLICANT.num_debts,
  debt_age: APPLICANT.debt_age,
  prior_history: APPLICANT.prior_history,
} as const;
/** What makes an application a rejected one. */
export const REJECTED = { income: 1, num_debts: '3', debt_age: 'gt2', prior_history: 'no' } as const;
/** What makes an application wait for a review: the income is just above the reference installment (D29). */
export const IN_REVIEW = { ...REJECTED, income: 350_000, num_debts: '2' } as const;
/** The points of an approved application, and a debt above the limit of 25,000 USD. */
export const ABOVE_LIMIT = { income: 90_000_000, debt_amount: 100_000_001 } as const;
