/** Installments and annual rates against fractions that nothing rounds (D45). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type LoanTerms, loanOf } from '../../../src/domain/loan/loan.ts';
import { annualRateOf, offerOfLoan, priceLoan } from '../../../src/domain/loan/offer.ts';
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
      const rate = loan && annualRateOf(loan);
      if (loan === null || rate === null) return;
      const payments = loan.payments.map(({ payment }) => payment);
      assert.equal(isWorth(payments, loan.net, 2n * rate + 1n, 'up'), false, `${rate} is too low`);
      if (rate > 0n) assert.ok(isWorth(payments, loan.net, 2n * rate - 1n, 'down'), `${rate} is too high`);
    }),
    { numRuns: 60 },
  );
});

test('D45: amounts of Chile have no decimals, those of Colombia two; the legal maximum may be reached', () => {
  const now = new Date('2026-11-23T15:00:00Z');
  for (const [currency, form] of [
    ['CLP', /^\d+$/],
    ['COP', /^\d+\.\d\d$/],
  ] as const) {
    const terms = { ...TERMS.countries.CO, currency };
    const debt = { amount: 7_654_321.5, currency };
    const free = priceLoan(terms, debt, now);
    assert.ok(free.kind === 'priced');
    const { annualRate } = free;
    const offer = offerOfLoan(terms, 'CO', free, { language: 'es', demonstration: false });
    for (const amount of [offer.amount, offer.net, offer.installment, offer.total])
      assert.match(amount, form);
    const below = (Number(annualRate) - 0.01).toFixed(2);
    const kindAt = (maximum: string) =>
      priceLoan({ ...terms, legal_maximum: { '2026-11': maximum } }, debt, now).kind;
    assert.deepEqual([kindAt(annualRate), kindAt(below)], ['priced', 'blocked']);
  }
});
