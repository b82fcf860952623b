/**
 * Loans of whole countries against a second implementation (D45), which is written from the rules' text alone:
 * fractions of whole numbers, discount factors summed one by one, and rates by Newton's method on doubles.
 * `LOANS=100000` compares so many loans a country.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WHOLE_COUNTRIES } from '../../../src/domain/loan/country-rules.ts';
import { addMonths } from '../../../src/domain/loan/local-day.ts';
import { priceLoan } from '../../../src/domain/loan/offer.ts';
import type { CountryTerms, Fee } from '../../../src/domain/loan/terms.ts';
import type { Country } from '../../../src/ground/base/country-data.ts';
import { numbers } from '../../evaluation/made-policies.ts';

const LOANS = Number(process.env.LOANS ?? 300);
const NOW = new Date('2026-11-23T18:00:00Z');

/** What the second implementation knows of a country. */
const LAW: Readonly<
  Partial<Record<Country, { digits: number; vat: bigint; costWithTax: boolean; nominal: boolean }>>
> = {
  CO: { digits: 0, vat: 0n, costWithTax: true, nominal: false },
  MX: { digits: 2, vat: 16n, costWithTax: false, nominal: true },
};

/** Half up. */
const divide = (over: bigint, under: bigint) => (over + under / 2n) / under;

interface Made {
  amount: bigint;
  /** Ten-thousandths of a percent a month. */
  rate: bigint;
  months: number;
  insurance: bigint;
  fees: { when: Fee['when']; percent: bigint | null; amount: bigint; insured: boolean }[];
}

function made(next: (below: number) => number): Made {
  return {
    amount: BigInt(50_000 + next(900_000_000)),
    rate: BigInt(next(6) === 0 ? 0 : next(60_000)),
    months: 1 + next(72),
    insurance: BigInt(next(3) === 0 ? next(3_000) : 0),
    fees: Array.from({ length: next(4) }, () => {
      const percent = next(2) === 0 ? BigInt(next(30_000)) : null;
      return {
        when: (['deducted', 'financed', 'monthly'] as const)[next(3)]!,
        percent: percent === null ? null : percent / 10n,
        amount: BigInt(next(900)),
        insured: next(3) === 0,
      };
    }),
  };
}

const MILLION = 1_000_000n;

function secondly(one: Made, { vat, costWithTax, nominal }: NonNullable<(typeof LAW)['CO']>) {
  const fees = one.fees.map(({ percent, amount, ...fee }) => {
    const net = percent === null ? amount : divide(one.amount * percent, MILLION);
    return { ...fee, net, tax: fee.insured ? 0n : divide(net * vat, 100n) };
  });
  const sum = (when: Fee['when'], of: (fee: (typeof fees)[number]) => bigint) =>
    fees.filter((fee) => fee.when === when).reduce((total, fee) => total + of(fee), 0n);
  const principal = one.amount + sum('financed', ({ net, tax }) => net + tax);
  const paidOut = one.amount - sum('deducted', ({ net, tax }) => net + tax);
  // The level payment q: principal = q * (v + v^2 + ... + v^n), v = D / (D + c), as a fraction.
  const unit = MILLION * 100n;
  const cost = one.rate * (100n + vat) + one.insurance * 100n;
  const grown = unit + cost;
  let [over, under] = [0n, 1n];
  for (let month = 0; month < one.months; month += 1) [over, under] = [(over + under) * unit, under * grown];
  const level = divide(principal * under, over);
  const rows = [];
  let balance = principal;
  for (let month = 1; month <= one.months; month += 1) {
    const interest = divide(balance * one.rate, MILLION);
    const tax = divide(interest * vat, 100n);
    const premium = divide(balance * one.insurance, MILLION);
    const repaid = month === one.months ? balance : level - interest - tax - premium;
    if (repaid <= 0n || repaid > balance) return null;
    balance -= repaid;
    rows.push({
      principal: repaid,
      interest,
      tax: tax + sum('monthly', (fee) => fee.tax),
      insurance: premium + sum('monthly', ({ insured, net }) => (insured ? net : 0n)),
      fee: sum('monthly', ({ insured, net }) => (insured ? 0n : net)),
      balance,
    });
  }
  if (paidOut <= 0n) return null;
  const flows = rows.map(({ balance: _, tax, ...row }) =>
    Number(Object.values(row).reduce((total, value) => total + value, costWithTax ? tax : 0n)),
  );
  const received = Number(costWithTax ? paidOut : paidOut + sum('deducted', ({ tax }) => tax));
  const monthly = Number(one.rate) / 1e6;
  return {
    rows,
    principal,
    paidOut,
    total: rows.reduce(
      (all, { balance: _, ...row }) => all + Object.values(row).reduce((a, b) => a + b, 0n),
      0n,
    ),
    interestRate: 100 * (nominal ? 12 * monthly : (1 + monthly) ** 12 - 1),
    annualRate: 100 * ((1 + newton(flows, received)) ** 12 - 1),
  };
}

/**
 * The monthly rate at which the payments are worth `received`; the worth is convex, so each step from below stays
 * below.
 */
function newton(payments: readonly number[], received: number): number {
  let rate = 0;
  for (let step = 0; step < 200; step += 1) {
    let [worth, slope, discount] = [0, 0, 1];
    payments.forEach((payment, index) => {
      discount /= 1 + rate;
      worth += payment * discount;
      slope -= ((index + 1) * payment * discount) / (1 + rate);
    });
    const next = rate - (worth - received) / slope;
    if (Math.abs(next - rate) < 1e-15) return next;
    rate = next;
  }
  return rate;
}

function termsOf(country: Country, one: Made, digits: number): CountryTerms {
  const money = (minor: bigint) => (digits === 0 ? `${minor}` : (Number(minor) / 100).toFixed(2));
  const percent = (units: bigint) => (Number(units) / 1e4).toFixed(4);
  return {
    lender: { name: 'A', number: '1' },
    currency: country === 'CO' ? 'COP' : 'MXN',
    zone: 'America/Bogota',
    monthly_rate: percent(one.rate),
    months: one.months,
    fees: one.fees.map(({ when, percent: share, amount, insured }) => ({
      name: 'x',
      when,
      ...(share === null ? { amount: money(amount) } : { percent: percent(share) }),
      ...(insured && { kind: 'insurance' as const }),
    })),
    ...(one.insurance > 0n && { insurance: { name: 'y', percent: percent(one.insurance) } }),
    minimum: '0',
    maximum: '999999999999',
    legal_maximum: 'none',
    withdrawal: 'none',
    offer_days: 1,
    contract: 'standard-es',
  };
}

for (const country of WHOLE_COUNTRIES)
  test(`D45: ${country}: schedules and rates of made-up loans are those of the second implementation`, () => {
    const law = LAW[country]!;
    const next = numbers(country === 'CO' ? 45 : 46);
    let compared = 0;
    for (let n = 0; n < LOANS; n += 1) {
      const one = made(next);
      const terms = termsOf(country, one, law.digits);
      const amount = law.digits === 0 ? `${one.amount}` : (Number(one.amount) / 100).toFixed(2);
      const priced = priceLoan(country, terms, { amount, currency: terms.currency }, NOW);
      const second = secondly(one, law);
      if (priced.kind === 'blocked') {
        assert.ok(
          second === null || !(second.annualRate < 1e5),
          `${priced.reason}: ${JSON.stringify(terms)}`,
        );
        continue;
      }
      assert.ok(second, JSON.stringify(terms));
      compared += 1;
      const { loan, principal, interestRate, annualRate } = priced;
      const rows = loan.payments.map(({ month: _, payment: __, ...row }) => row);
      assert.deepEqual(
        rows.map(({ principal: repaid, interest, tax, insurance, fee, balance }) => ({
          ...{ principal: repaid, interest, tax, insurance, fee, balance },
        })),
        second.rows.map(({ principal: repaid, interest, tax, insurance, fee, balance }) => ({
          ...{ principal: repaid, interest, tax, insurance, fee, balance },
        })),
      );
      assert.deepEqual([principal, loan.net, loan.total], [second.principal, second.paidOut, second.total]);
      assert.ok(Math.abs(Number(interestRate) - second.interestRate) < 0.00501, `${interestRate}`);
      const far = Math.abs(Number(annualRate) - second.annualRate);
      assert.ok(far < 0.00501 + second.annualRate * 1e-9, `${annualRate} ${second.annualRate}`);
    }
    assert.ok(compared > LOANS / 2, `${compared}`);
  });

test('D45: Mexico: 2 % a month over 12 months has an IVA of 16 % on its interest, and a CAT without it', () => {
  const terms = { ...termsOf('MX', { amount: 0n, rate: 20_000n, months: 12, insurance: 0n, fees: [] }, 2) };
  const priced = priceLoan('MX', terms, { amount: 10_000, currency: 'MXN' }, NOW);
  assert.ok(priced.kind === 'priced');
  const tax = priced.loan.payments.reduce((sum, one) => sum + one.tax, 0n);
  const interest = priced.loan.payments.reduce((sum, one) => sum + one.interest, 0n);
  assert.ok(tax - (interest * 16n) / 100n <= 6n);
  assert.equal(priced.annualRate, '26.82');
  assert.equal(priced.interestRate, '24.00');
});

test('D45: installments fall due on the day of the paying out, or on the last day of a shorter month', () => {
  const table: readonly [string, number, string][] = [
    ['2026-11-30', 1, '2026-12-30'],
    ['2026-11-30', 3, '2027-02-28'],
    ['2026-11-30', 4, '2027-03-30'],
    ['2027-01-31', 1, '2027-02-28'],
    ['2027-01-31', 2, '2027-03-31'],
    ['2028-01-31', 1, '2028-02-29'],
    ['2026-12-01', 120, '2036-12-01'],
  ];
  for (const [date, months, due] of table) assert.equal(addMonths(date, months), due);
});
