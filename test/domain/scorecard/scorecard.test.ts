import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Application, DebtAge, NumDebts, PriorHistory } from '../../../src/domain/application/fields.ts';
import { INITIAL_STATUS } from '../../../src/domain/application/lifecycle.ts';
import { toPhone } from '../../../src/domain/phone/phone.ts';
import type { Card } from '../../../src/domain/scorecard/card.ts';
import { cardOfContent } from '../../../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY, type Form1 } from '../../../src/domain/scorecard/form-1.ts';
import { CRITERIA, MAX_POINTS } from '../../../src/domain/scorecard/scorecard.ts';
import { CURRENCIES, type Currency } from '../../../src/ground/base/country-data.ts';
import { APPLICANT } from '../../support/applicant.ts';

const BASE: Application = {
  ...APPLICANT,
  phone: null,
  platform: 'gig',
  currency: 'COP',
  income: 1,
  debt_amount: 1,
};
const CARDS = new WeakMap<Form1, Card>();
function cardOf(policy: Form1): Card {
  const card = CARDS.get(policy) ?? cardOfContent(policy);
  CARDS.set(policy, card);
  return card;
}
const installmentFactor = (policy: Form1) =>
  1 / cardOf(policy).ratioOf({ income: 1, debt_amount: 1, currency: 'COP' });
const score = (changes: Partial<Application>, policy: Form1 = DEFAULT_POLICY) => {
  const { points, score, decision } = cardOf(policy).decide({ ...BASE, ...changes });
  return { points, score, decision };
};

/** The bands of D27 as exact fractions: the ratio p/q gives the points. */
const BANDS = [
  { p: 4n, q: 1n, points: 25, below: 20 },
  { p: 3n, q: 1n, points: 20, below: 13 },
  { p: 2n, q: 1n, points: 13, below: 7 },
  { p: 3n, q: 2n, points: 7, below: 0 },
];
const DEBT_AGE: Record<DebtAge, number> = { lt6: 20, '6a12': 15, '1a2': 8, gt2: 2 };
const NUM_DEBTS: Record<NumDebts, number> = { '1': 20, '2': 12, '3': 4 };
const PRIOR_HISTORY: Record<PriorHistory, number> = { yes: 15, no: 0 };

/** The least whole number of cents of at least p/q of the reference installment of `debt`, in integers only. */
function incomeCents(debt: number, p: bigint, q: bigint): bigint {
  const grown = 102n ** 36n;
  const top = p * BigInt(debt) * 100n * 2n * grown;
  const bottom = q * 100n * (grown - 100n ** 36n);
  return (top + bottom - 1n) / bottom;
}

function decisionOf(points: number): string {
  if (points >= 70) return 'approved';
  return points >= 30 ? 'in_review' : 'rejected';
}

function nextUp(value: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigUint64(0, view.getBigUint64(0) + 1n);
  return view.getFloat64(0);
}

describe('points', () => {
  it('contract "Scoring": each criterion has its most points, together 100', () => {
    assert.deepEqual(MAX_POINTS, {
      payment_capacity: 25,
      channel: 20,
      debt_age: 20,
      num_debts: 20,
      prior_history: 15,
    });
    const best = score({ income: 1e9 });
    assert.deepEqual(best, { points: { ...MAX_POINTS }, score: 100, decision: 'approved' });
  });

  it('D27: the reference installment is the annuity of 36 months at 2 % a month', () => {
    assert.ok(Math.abs(installmentFactor(DEFAULT_POLICY) - 0.039_232_852_6) < 1e-10);
    let balance = 1;
    for (let month = 0; month < 36; month++) balance = balance * 1.02 - installmentFactor(DEFAULT_POLICY);
    assert.ok(Math.abs(balance) < 1e-9, `paid off after 36 months, left ${balance}`);
  });

  it('D27: a rate of 0 spreads the debt evenly', () => {
    const policy = { ...DEFAULT_POLICY, reference_installment: { months: 36, monthly_rate: 0 } };
    assert.equal(installmentFactor(policy), 1 / 36);
  });

  it('D27: each band begins at its ratio, exact to the cent', () => {
    for (const { p, q, points, below } of BANDS) {
      for (const debt of [1_000, 25_000, 123_457, 6_000_000, 99_999_999]) {
        const cents = incomeCents(debt, p, q);
        const at = (income: bigint) =>
          score({ debt_amount: debt, income: Number(income) / 100 }).points.payment_capacity;
        assert.equal(at(cents), points, `${p}/${q} of ${debt}`);
        assert.equal(at(cents - 1n), below, `a cent less than ${p}/${q} of ${debt}`);
      }
    }
  });

  it('D27: a ratio that is reached exactly gives the points', () => {
    // One month without interest: the installment equals the debt, so the ratios are exact.
    const policy = { ...DEFAULT_POLICY, reference_installment: { months: 1, monthly_rate: 0 } };
    for (const { p, q, points, below } of BANDS) {
      const income = (Number(p) / Number(q)) * 1_000;
      const at = (amount: number) =>
        score({ debt_amount: 1_000, income: amount }, policy).points.payment_capacity;
      assert.equal(at(income), points);
      assert.equal(at(income - 0.001), below);
    }
  });

  it('D27, D28, D30: every combination gets the points of each criterion and their sum', () => {
    const debt = 6_000_000;
    const incomes: [number, number][] = [[Number(incomeCents(debt, 1n, 1n)) / 100, 0]];
    for (const { p, q, points } of BANDS) incomes.push([Number(incomeCents(debt, p, q)) / 100, points]);
    let combinations = 0;
    for (const [income, capacity] of incomes) {
      for (const [age, agePoints] of Object.entries(DEBT_AGE)) {
        for (const [count, countPoints] of Object.entries(NUM_DEBTS)) {
          for (const [history, historyPoints] of Object.entries(PRIOR_HISTORY)) {
            const points = {
              payment_capacity: capacity,
              channel: 20,
              debt_age: agePoints,
              num_debts: countPoints,
              prior_history: historyPoints,
            };
            const sum = capacity + 20 + agePoints + countPoints + historyPoints;
            const actual = score({
              debt_amount: debt,
              income,
              debt_age: age as DebtAge,
              num_debts: count as NumDebts,
              prior_history: history as PriorHistory,
            });
            assert.deepEqual(actual, { points, score: sum, decision: decisionOf(sum) });
            assert.deepEqual(Object.keys(actual.points), Object.keys(points));
            combinations += 1;
          }
        }
      }
    }
    assert.equal(combinations, 5 * 4 * 3 * 2);
  });
});

describe('decision', () => {
  it('contract "Outcome at creation": every score from 0 to 100 has its decision and status', () => {
    const nothing = {
      ...DEFAULT_POLICY,
      payment_capacity: [],
      debt_age: { lt6: 0, '6a12': 0, '1a2': 0, gt2: 0 },
      num_debts: { '1': 0, '2': 0, '3': 0 },
      prior_history: { yes: 0, no: 0 },
    };
    const outcomes = new Map<number, string>();
    for (let points = 0; points <= 100; points++) {
      const { score: sum, decision } = score({}, { ...nothing, channel: { gig: points } });
      assert.equal(sum, points);
      outcomes.set(points, `${decision} ${INITIAL_STATUS[decision]}`);
    }
    const approved = 'approved pending_signature';
    const table: [number, string][] = [
      [100, approved],
      [70, approved],
      [69, 'in_review in_review'],
      [50, 'in_review in_review'],
      [49, 'in_review in_review'],
      [30, 'in_review in_review'],
      [29, 'rejected rejected'],
      [0, 'rejected rejected'],
    ];
    for (const [points, outcome] of table) assert.equal(outcomes.get(points), outcome, String(points));
    for (const [points, outcome] of outcomes) assert.equal(outcome.split(' ')[0], decisionOf(points));
  });

  it('D29: more than 25,000 USD at the rates of D29 is rejected; exactly 25,000 is not', () => {
    const limits: Partial<Record<Currency, number>> = {
      USD: 25_000,
      COP: 100_000_000,
      MXN: 450_000,
      PEN: 93_750,
      ARS: 25_000_000,
      CLP: 23_750_000,
      BRL: 137_500,
      EUR: 22_500,
    };
    for (const [currency, limit] of Object.entries(limits) as [Currency, number][]) {
      const at = score({ currency, debt_amount: limit, income: limit });
      assert.deepEqual([at.score, at.decision], [100, 'approved'], currency);
      for (const above of [nextUp(limit), limit + 0.01, limit * 2, limit * 24]) {
        const over = score({ currency, debt_amount: above, income: above });
        assert.deepEqual(over, { ...at, decision: 'rejected' }, `${currency} ${above}`);
        assert.equal(INITIAL_STATUS[over.decision], 'rejected');
      }
    }
  });

  it('D29: every currency has its limit', () => {
    for (const [currency, rate] of Object.entries(CURRENCIES) as [Currency, number][]) {
      const decided = (debt: number) => score({ currency, debt_amount: debt, income: debt }).decision;
      assert.equal(decided(25_000 * rate), 'approved', currency);
      assert.equal(decided(nextUp(25_000 * rate)), 'rejected', currency);
    }
  });

  it('D29: an installment of more than the whole income is above the limit, exact to the cent', () => {
    const best = { debt_age: 'lt6', num_debts: '1', prior_history: 'yes' } as const;
    for (const debt of [1_000, 25_000, 123_457, 6_000_000, 50_000_000, 99_999_999]) {
      const cents = incomeCents(debt, 1n, 1n);
      const decided = (income: bigint) => score({ ...best, debt_amount: debt, income: Number(income) / 100 });
      assert.deepEqual([decided(cents).score, decided(cents).decision], [75, 'approved'], `${debt}`);
      assert.deepEqual(
        decided(cents - 1n),
        { ...decided(cents), decision: 'rejected' },
        `a cent less for ${debt}`,
      );
    }
    assert.equal(score({ ...best, income: 1, debt_amount: 50_000_000 }).decision, 'rejected');
  });

  it('D29: a policy sets the share of the income; one without it has no such limit', () => {
    // One month without interest: the installment equals the debt, so the ratios are exact.
    const reference_installment = { months: 1, monthly_rate: 0 };
    const { max_installment_share: _, ...amountAlone } = DEFAULT_POLICY.amount_limit;
    const decided = (share: object, income: number) => {
      const policy = { ...DEFAULT_POLICY, reference_installment, amount_limit: { ...amountAlone, ...share } };
      return score({ debt_amount: 1_000, income }, policy).decision;
    };
    for (const share of [0.25, 0.4, 0.5, 1]) {
      const least = 1_000 / share;
      assert.notEqual(decided({ max_installment_share: share }, least), 'rejected', `${share}`);
      assert.equal(
        decided({ max_installment_share: share }, least - 0.01),
        'rejected',
        `a cent less at ${share}`,
      );
    }
    assert.equal(decided({}, 1), 'approved');
  });

  it('D29: the limit does not change the score of an application that is rejected anyway', () => {
    const worst = { debt_age: 'gt2', num_debts: '3', prior_history: 'no', income: 1 } as const;
    assert.equal(score({ ...worst, debt_amount: 100_000_000 }).score, 26);
    assert.deepEqual(
      score({ ...worst, debt_amount: 100_000_001 }),
      score({ ...worst, debt_amount: 100_000_000 }),
    );
  });
});

const amount = fc.double({ min: 5e-324, max: Number.MAX_VALUE, noNaN: true });
const realistic = fc.double({ min: 0.01, max: 1e9, noNaN: true });
const application = (money: fc.Arbitrary<number>) =>
  fc.record({
    income: money,
    debt_amount: money,
    currency: fc.constantFrom(...(Object.keys(CURRENCIES) as Currency[])),
    debt_age: fc.constantFrom(...(Object.keys(DEBT_AGE) as DebtAge[])),
    num_debts: fc.constantFrom(...(Object.keys(NUM_DEBTS) as NumDebts[])),
    prior_history: fc.constantFrom(...(Object.keys(PRIOR_HISTORY) as PriorHistory[])),
  });
const RANK = { rejected: 0, in_review: 1, approved: 2 };

describe('properties', () => {
  it('contract "Limits": for any amounts the score is the sum of its points, an integer from 0 to 100', () => {
    fc.assert(
      fc.property(fc.oneof(application(amount), application(realistic)), (changes) => {
        const { points, score: sum, decision } = score(changes);
        assert.ok(Number.isInteger(sum) && sum >= 0 && sum <= 100);
        let total = 0;
        for (const criterion of CRITERIA) {
          total += points[criterion];
          assert.ok(points[criterion] >= 0 && points[criterion] <= MAX_POINTS[criterion]);
        }
        assert.equal(total, sum);
        assert.ok(decision in RANK);
      }),
    );
  });

  it('D27: extreme amounts neither throw nor leave the scale', () => {
    for (const income of [5e-324, 1e-300, 1, 1e300, Number.MAX_VALUE]) {
      for (const debt_amount of [5e-324, 1e-300, 1, 1e300, Number.MAX_VALUE]) {
        const { points } = score({ income, debt_amount });
        assert.equal(points.payment_capacity, income >= debt_amount ? 25 : 0, `${income} ${debt_amount}`);
      }
    }
  });

  it('D27: more income never lowers a score, and more debt never raises it', () => {
    fc.assert(
      fc.property(application(realistic), fc.oneof(amount, realistic), (changes, more) => {
        const { score: before, decision } = score(changes);
        const richer = score({ ...changes, income: changes.income + more });
        assert.ok(richer.score >= before && RANK[richer.decision] >= RANK[decision]);
        const deeper = score({
          ...changes,
          debt_amount: Math.min(changes.debt_amount + more, Number.MAX_VALUE),
        });
        assert.ok(deeper.score <= before && RANK[deeper.decision] <= RANK[decision]);
      }),
    );
  });

  it('D28: fewer debts, younger debts and a better history never lower a score', () => {
    const better = {
      debt_age: ['gt2', '1a2', '6a12', 'lt6'],
      num_debts: ['3', '2', '1'],
      prior_history: ['no', 'yes'],
    } as const;
    fc.assert(
      fc.property(
        application(realistic),
        fc.constantFrom(...(Object.keys(better) as (keyof typeof better)[])),
        (changes, field) => {
          let last = { score: -1, rank: -1 };
          for (const value of better[field]) {
            const next = score({ ...changes, [field]: value } as Partial<Application>);
            assert.ok(next.score > last.score && RANK[next.decision] >= last.rank);
            last = { score: next.score, rank: RANK[next.decision] };
          }
        },
      ),
    );
  });

  it('D30: a field that is not a criterion does not change the score', () => {
    fc.assert(
      fc.property(application(realistic), fc.string(), fc.boolean(), (changes, text, optin) => {
        const other = {
          ...changes,
          name: text,
          id_number: text,
          city: text,
          platform: text,
          messaging_optin: optin,
        };
        assert.deepEqual(score({ ...other, phone: toPhone('+573001234567') }), score(changes));
      }),
    );
  });
});
