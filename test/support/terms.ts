/** The terms of the tests: a lender of Colombia. */
export const TERMS = {
  version: '2026-11',
  countries: {
    CO: {
      lender: {
        name: 'Crédito Ejemplo S.A.S.',
        number: 'NIT 900.123.456-7',
        address: 'Calle Inventada 1-23, Bogotá',
      },
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
      payment: 'por PSE en pagos.credito.example',
      late_rate: '1.8',
      acceleration: { installments: 3 },
      complaints: 'quejas@credito.example',
      privacy_notice: 'https://credito.example/privacidad',
      data_rights: 'datos@credito.example',
    },
  },
} as const;
