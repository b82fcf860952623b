/** The one applicant of the tests, who is approved. A test says only in what its own applicants differ. */

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

/** What makes an application a rejected one. */
export const REJECTED = { income: 1, num_debts: '3', debt_age: 'gt2', prior_history: 'no' } as const;
/** What makes an application wait for a review. */
export const IN_REVIEW = { ...REJECTED, num_debts: '2' } as const;
