/** The terms of the tests: a lender of Colombia. */
export const TERMS = {
  version: '2026-11',
  countries: {
    CO: {
      lender: { name: 'Crédito Ejemplo S.A.S.', number: 'NIT 900.123.456-7' },
      currency: 'COP',
      zone: 'America/Bogota',
      monthly_rate: '1.8',
      months: 24,
      fees: [{ name: 'Estudio', when: 'deducted', percent: '0.5' }],
      minimum: '100000',
      maximum: '100000000',
      legal_maximum: 'none',
      withdrawal: { days: 5, kind: 'business' },
      offer_days: 2,
      contract: 'standard-es',
    },
  },
} as const;
