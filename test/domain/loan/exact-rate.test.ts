/** Installments and annual rates against fractions that nothing rounds (D45). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type LoanTerms, loanOf } from '../../../src/domain/loan/loan.ts';
import { offerOfLoan, priceLoan } from '../../../src/domain/loan/offer.ts';
import { annualRateOf, effectiveRateOf } from '../../../src/domain/loan/rates.ts';
import type { CountryTerms } from '../../../src/domain/loan/terms.ts';
import { TERMS } from '../../support/terms.ts';

/** Half up, as money is rounded. */
const rounded = (over: bigint, under: bigint) => (2n * over + under) / (2n * under);

/** The installment by definition: the payment whose present values, summed one by one, are the principal. */
function installmentOf({ principal, monthlyRate: { units, scale }, months }: LoanTerms): bigint {
  const one = 10n ** BigInt(scale);
  // The sum of (one / (one + units))^k for k = 1 to n, as a fraction over (one + units)^n.
  let sum = 0n;
  for (let month = 1n; month <= BigInt(months); month += 1n) {
    sum += one ** month * (one + units) ** (BigInt(months) - month);
  }
  return rounded(principal * (one + units) ** BigInt(months), sum);
}

/**
 * Compares what payments are worth at an annual rate, in halves of a hundredth of a percent, with the net: by whole
 * numbers alone. The monthly growth is the twelfth root, rounded down or up at its 40th digit.
 */
function isWorth(payments: readonly bigint[], net: bigint, halves: bigint, root: 'down' | 'up'): boolean {
  const places = 10n ** 40n;
  const target = ((20_000n + halves) * places ** 12n) / 20_000n;
  let [low, high] = [places, 100n * places];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (middle ** 12n <= target) low = middle;
    else high = middle;
  }
  const growth = root === 'down' ? low : high;
  const months = BigInt(payments.length);
  const worth = payments.reduce((sum, payment, index) => {
    const month = BigInt(index + 1);
    return sum + payment * places ** month * growth ** (months - month);
  }, 0n);
  return worth >= net * growth ** months;
}

const LOANS: fc.Arbitrary<LoanTerms> = fc.record({
  principal: fc.bigInt(10_000n, 10n ** 12n),
  monthlyRate: fc.record({ units: fc.bigInt(0n, 8_000n), scale: fc.constant(5) }),
  months: fc.constantFrom(1, 2, 6, 12, 24, 36, 60, 120),
  deducted: fc.bigInt(0n, 500n),
  monthlyFee: fc.bigInt(0n, 500n),
  monthlyFeeTax: fc.constant(0n),
  monthlyInsurance: fc.constant(0n),
  interestTax: fc.constant({ units: 0n, scale: 0 }),
  insurance: fc.constant({ units: 0n, scale: 0 }),
});

test('D45: the installment is that of the definition, for 0 %, for one month and for 120', () => {
  fc.assert(
    fc.property(LOANS, (terms) => {
      const loan = loanOf(terms);
      if (loan !== null) assert.equal(loan.installment, installmentOf(terms) + terms.monthlyFee);
    }),
    { numRuns: 200 },
  );
});

test('D45: the annual rate is the exact one, rounded to two digits', () => {
  fc.assert(
    fc.property(LOANS, (terms) => {
      const loan = loanOf(terms);
      if (loan === null) return;
      const payments = loan.payments.map(({ payment }) => payment);
      const exact = effectiveRateOf(payments, loan.net);
      if (exact === null) return;
      const rate = rounded(exact, 10n ** 26n);
      assert.equal(isWorth(payments, loan.net, 2n * rate + 1n, 'up'), false, `${rate} is too low`);
      if (rate > 0n) assert.ok(isWorth(payments, loan.net, 2n * rate - 1n, 'down'), `${rate} is too high`);
    }),
    { numRuns: 60 },
  );
});

test('D45: amounts of Chile and of Colombia have no decimals, those of Mexico two', () => {
  for (const [country, currency, form] of [
    ['CL', 'CLP', /^\d+$/],
    ['CO', 'COP', /^\d+$/],
    ['MX', 'MXN', /^\d+\.\d\d$/],
  ] as const) {
    const terms: CountryTerms = { ...TERMS.countries.CO, currency };
    const priced = priceLoan(country, terms, { amount: 7_654_321.5, currency }, NOW);
    assert.ok(priced.kind === 'priced');
    const offer = offerOfLoan(country, terms, priced, {
      disbursement: '2026-12-01',
      paying: { debts: [], creditors: '0', toApplicant: '0' },
      demonstration: false,
    });
    for (const amount of [offer.amount, offer.net, offer.installment, offer.total])
      assert.match(amount, form);
  }
});

test('D45: a rate may be the legal maximum itself, and not a millionth of a percent more: nothing is rounded', () => {
  const kindAt = (maximum: string, changes: Partial<CountryTerms> = {}) =>
    priceLoan(
      'CO',
      {
        ...TERMS.countries.CO,
        fees: [],
        late_rate: 'none',
        ...changes,
        legal_maximum: { '2026-11': maximum },
      },
      { amount: 6_000_000, currency: 'COP' },
      NOW,
    ).kind;
  // 1.8336 % a month are 24.3636… % a year, which two digits would show as the maximum.
  assert.equal(kindAt('24.36', { monthly_rate: '1.8336' }), 'blocked');
  assert.equal(kindAt('24.37', { monthly_rate: '1.8336' }), 'priced');
  // 1.01^12 = 1.126825030131969720661201
  const exact = '12.6825030131969720661201';
  assert.equal(
    annualRateOf({ units: 1n, scale: 2 }, 'effective'),
    BigInt(`${exact.replace('.', '')}000000`) / 1n,
  );
  assert.equal(kindAt(exact, { monthly_rate: '1' }), 'priced');
  assert.equal(kindAt('12.6825030131969720661200', { monthly_rate: '1' }), 'blocked');
});

const NOW = new Date('2026-11-23T15:00:00Z');
