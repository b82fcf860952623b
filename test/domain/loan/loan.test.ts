/** Installments, totals and annual rates in exact decimals (D45). */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { type Loan, type LoanTerms, loanOf } from '../../../src/domain/loan/loan.ts';
import { effectiveRateOf, percentText, presentValue } from '../../../src/domain/loan/rates.ts';
import { divideRounded, readDecimal, writeDecimal } from '../../../src/domain/money/decimal.ts';
import { formatMoney, minorDigits, moneyText, toMinor } from '../../../src/domain/money/money.ts';

/** A loan without taxes and insurances. */
const PLAIN = {
  monthlyFeeTax: 0n,
  monthlyInsurance: 0n,
  interestTax: { units: 0n, scale: 0 },
  insurance: { units: 0n, scale: 0 },
} as const;
/** 2 % a month over 36 months, in cents (D27). */
const DEMO: LoanTerms = {
  ...PLAIN,
  principal: 600_000_000n,
  monthlyRate: { units: 2n, scale: 2 },
  months: 36,
  deducted: 0n,
  monthlyFee: 0n,
};

const TERMS = fc.record({
  principal: fc.bigInt(100_000n, 10n ** 13n),
  monthlyRate: fc.record({ units: fc.bigInt(0n, 20_000n), scale: fc.constant(5) }),
  months: fc.integer({ min: 1, max: 120 }),
  deducted: fc.bigInt(0n, 20_000n),
  monthlyFee: fc.bigInt(0n, 50_000n),
  monthlyFeeTax: fc.bigInt(0n, 8_000n),
  monthlyInsurance: fc.bigInt(0n, 5_000n),
  interestTax: fc.record({ units: fc.bigInt(0n, 30n), scale: fc.constant(2) }),
  insurance: fc.record({ units: fc.bigInt(0n, 300n), scale: fc.constant(5) }),
});
const annualOf = ({ payments, net }: Loan) =>
  effectiveRateOf(
    payments.map(({ payment }) => payment),
    net,
  );
const rateOf = (terms: LoanTerms) => {
  const loan = loanOf(terms);
  return loan && annualOf(loan);
};

test('D27, D45: the terms of the demo give the installment of the scorecard, and 26.82 % a year', () => {
  const loan = loanOf(DEMO);
  assert.ok(loan);
  // 6,000,000 * 0.02 / (1 - 1.02^-36) = 235,397.12
  assert.equal(moneyText(loan.installment, 'MXN'), '235397.12');
  assert.equal(percentText(annualOf(loan) ?? 0n), '26.82');
});

test('D45: annual rates are those of published tables', () => {
  // (1 + r)^12 - 1 without fees; with a fee of 1,000 off 12,000 over 12 months without interest: 17.66 % a year.
  for (const [percent, annual] of [
    ['0', '0.00'],
    ['1', '12.68'],
    ['1.5', '19.56'],
    ['3', '42.58'],
    ['10', '213.84'],
  ] as const) {
    const { units, scale } = readDecimal(percent);
    assert.equal(percentText(rateOf({ ...DEMO, monthlyRate: { units, scale: scale + 2 } }) ?? -1n), annual);
  }
  const noInterest = { ...DEMO, principal: 1_200_000n, months: 12, monthlyRate: { units: 0n, scale: 0 } };
  assert.equal(percentText(rateOf({ ...noInterest, deducted: 100_000n }) ?? 0n), '17.66');
});

describe('D45: for every loan', () => {
  it('the schedule sums up to the total, and pays back the amount, no more and no less', () => {
    fc.assert(
      fc.property(TERMS, (terms) => {
        const loan = loanOf(terms);
        if (loan === null) return;
        const sum = (key: 'payment' | 'principal' | 'interest' | 'tax' | 'insurance' | 'fee') =>
          loan.payments.reduce((total, payment) => total + payment[key], 0n);
        assert.equal(sum('payment'), loan.total);
        assert.equal(sum('principal'), terms.principal);
        const parts = (['interest', 'principal', 'tax', 'insurance', 'fee'] as const).map(sum);
        assert.equal(
          parts.reduce((total, one) => total + one),
          loan.total,
        );
        assert.equal(loan.payments.at(-1)?.balance, 0n);
        assert.equal(loan.payments.length, terms.months);
        for (const { payment } of loan.payments.slice(0, -1)) assert.equal(payment, loan.installment);
        // The last installment takes what rounding left over: half a unit a month at most, with its interest.
        const last = loan.payments.at(-1)?.payment ?? 0n;
        const drift = last > loan.installment ? last - loan.installment : loan.installment - last;
        const { monthlyRate, interestTax, insurance } = terms;
        const monthly =
          (Number(monthlyRate.units) / 1e5) * (1 + Number(interestTax.units) / 100) +
          Number(insurance.units) / 1e5;
        // Interest, tax and premium are rounded each.
        assert.ok(
          Number(drift) <= 2 * terms.months * (1 + monthly) ** terms.months + 2,
          `${drift} after ${terms.months} months`,
        );
      }),
    );
  });

  it('the annual rate reproduces what was paid out', () => {
    fc.assert(
      fc.property(TERMS, (terms) => {
        const loan = loanOf(terms);
        const exact = loan && annualOf(loan);
        if (loan === null || exact === null) return;
        const hundredths = exact / 10n ** 26n;
        const payments = loan.payments.map(({ payment }) => payment);
        // The monthly rates of the annual rate a hundredth lower and higher enclose the payments' worth.
        const monthly = (annual: bigint) => {
          const exact = (1 + Number(annual) / 10_000) ** (1 / 12) - 1;
          return BigInt(Math.round(exact * 1e15)) * 10n ** 15n;
        };
        const worth = loan.net * 10n ** 30n;
        assert.ok(presentValue(payments, monthly(hundredths + 2n)) <= worth);
        if (hundredths > 0n) assert.ok(presentValue(payments, monthly(hundredths - 1n)) >= worth);
      }),
    );
  });

  it('a higher fee never makes the annual rate lower', () => {
    fc.assert(
      fc.property(TERMS, fc.bigInt(0n, 10_000n), fc.bigInt(0n, 10_000n), (terms, more, monthly) => {
        const before = rateOf(terms);
        const after = rateOf({
          ...terms,
          deducted: terms.deducted + more,
          monthlyFee: terms.monthlyFee + monthly,
        });
        if (before === null || after === null) return;
        assert.ok(after >= before, `${after} after ${before}`);
      }),
    );
  });
});

test('D45: an amount too small for its months, and fees above the amount, make no loan', () => {
  assert.equal(loanOf({ ...DEMO, principal: 10n }), null);
  assert.equal(loanOf({ ...DEMO, principal: 20n, monthlyRate: { units: 0n, scale: 0 } }), null);
  assert.equal(loanOf({ ...DEMO, deducted: DEMO.principal }), null);
  // A single unit paid out for six million: no rate that makes sense.
  assert.equal(rateOf({ ...DEMO, deducted: DEMO.principal - 1n }), null);
});

test('D45: amounts have the digits of their currency: 0, 2 or 3', () => {
  assert.deepEqual(['CLP', 'COP', 'MXN', 'KWD'].map(minorDigits), [0, 0, 2, 3]);
  assert.equal(toMinor(1500.5, 'CLP'), 1501n);
  assert.equal(toMinor(1500.5, 'COP'), 1501n);
  assert.equal(toMinor(1500.5, 'MXN'), 150_050n);
  assert.equal(toMinor('0.0005', 'KWD'), 1n);
  assert.equal(toMinor(1.5e21, 'MXN'), 150_000_000_000_000_000_000_000n);
  assert.equal(moneyText(5n, 'KWD'), '0.005');
  assert.equal(moneyText(1501n, 'CLP'), '1501');
  assert.equal(formatMoney('9007199254740993.25', 'COP', 'es-CO'), '$ 9.007.199.254.740.993,25');
  assert.equal(formatMoney('6000000', 'COP', 'es-CO'), '$ 6.000.000');
  for (const currency of ['CLP', 'COP', 'KWD']) {
    const loan = loanOf({ ...DEMO, principal: toMinor(5000, currency) });
    assert.equal(
      loan?.payments.reduce((total, { payment }) => total + payment, 0n),
      loan?.total,
      currency,
    );
  }
});

test('decimals are read and written as they are, and rounded half up', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 30n), fc.integer({ min: 0, max: 12 }), (units, scale) => {
      assert.deepEqual(readDecimal(writeDecimal(units, scale)), { units, scale });
    }),
  );
  for (const text of ['', '-1', '1,5', '.5', '1.', '1e', 'NaN', ' 1']) {
    assert.throws(() => readDecimal(text), /must be a decimal/);
  }
  assert.deepEqual(
    [1n, 2n, 3n, 4n].map((units) => divideRounded(units, 4n)),
    [0n, 1n, 1n, 1n],
  );
});
