/** D44: what was observed of an income against what was declared, over whole months. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DEFAULT_INCOME_RULES } from '../../src/domain/scorecard/scorecard.ts';
import {
  type Declared,
  judgeIncome,
  type Observation,
} from '../../src/subjects/income/rules/judge-income.ts';
import { applicant } from '../support/applicant.ts';
import { BUILT_IN_CARD } from '../support/built-in-card.ts';

const CALENDAR = { lastWhole: '2026-10', latest: '2026-11' };
const MONTHS = ['2026-08', '2026-09', '2026-10'];
/** Units of the currency. */
const statement = (
  amounts: Readonly<Record<string, number>>,
  more: Partial<Observation> = {},
): Observation => ({
  source: 'rodar',
  currency: 'COP',
  issued: '2026-11',
  months: Object.entries(amounts).map(([month, amount]) => ({ month, amount: Math.round(amount * 100) })),
  ...more,
});
const of = (...amounts: number[]) =>
  Object.fromEntries(MONTHS.map((month, n) => [month, amounts[n] ?? amounts[0]!]));
function declares(income: number, changes: Parameters<typeof applicant>[0] = {}): Declared {
  const application = applicant({ income, ...changes });
  const again = (other: number) => BUILT_IN_CARD.decide({ ...application, income: other });
  return { income, currency: 'COP', decision: again(income).decision, assess: again };
}
const judge = (declared: Declared, observations: readonly Observation[], rules = DEFAULT_INCOME_RULES) =>
  judgeIncome(declared, observations, CALENDAR, rules);
const reasonOf = (observations: readonly Observation[], income = 1_000_000) =>
  judge(declares(income), observations).reason;

describe('D44: the thresholds', () => {
  const income = 1_000_000;
  for (const [observed, reason] of [
    [2_000_000, 'confirmed'],
    [900_000, 'confirmed'],
    [899_999.99, 'same_decision'],
    [700_000, 'same_decision'],
    [699_999.99, 'far_below'],
    [0, 'far_below'],
  ] as const) {
    it(`${observed} of ${income} declared: ${reason}`, () => {
      // The payment capacity stays in its highest band, so that the decision stays too.
      const declared = declares(income, { debt_amount: 1_000_000 });
      assert.equal(judge(declared, [statement(of(observed))]).reason, reason);
    });
  }

  it('scored again, the same decision is adjusted, and a worse one goes to an operator with its score', () => {
    const reasons = new Set<string>();
    for (let debt = 1_000_000; debt < 90_000_000; debt += 500_000) {
      const declared = declares(3_200_000, {
        debt_amount: debt,
        num_debts: '1',
        debt_age: '1a2',
        prior_history: 'yes',
      });
      const judged = judge(declared, [statement(of(2_300_000))]);
      assert.notEqual(judged.again, null);
      reasons.add(judged.reason);
    }
    assert.deepEqual([...reasons].sort(), ['same_decision', 'worse_decision']);
  });

  it('the lower of mean and median counts', () => {
    const observed = (...amounts: number[]) => judge(declares(1), [statement(of(...amounts))]).observed;
    assert.equal(observed(100, 100, 400), 100_00);
    assert.equal(observed(1, 300, 300), 200_33);
    assert.equal(observed(0.01, 0.01, 0), 0);
  });

  it('the thresholds are those of the policy', () => {
    const rules = { months: 2, newest_within_months: 2, confirm_ratio: 0.5, rescore_ratio: 0.2 };
    const two = statement({ '2026-09': 500_000, '2026-10': 500_000 });
    assert.equal(judge(declares(1_000_000), [two], rules).reason, 'confirmed');
    assert.equal(judge(declares(1_000_000), [two]).reason, 'too_few_months');
  });
});

describe('D44: what is no whole month', () => {
  const whole = of(1_000_000);
  it('the current month is left out, also where the statement shows it', () => {
    const judged = judge(declares(1_000_000), [statement({ ...whole, '2026-11': 1 })]);
    assert.deepEqual([judged.reason, judged.months.map(({ month }) => month)], ['confirmed', MONTHS]);
  });
  it('the month in which a statement was made is not whole, and a later statement completes it', () => {
    const early = statement(
      { '2026-08': 1_000_000, '2026-09': 1_000_000, '2026-10': 5 },
      { issued: '2026-10' },
    );
    assert.equal(reasonOf([early]), 'too_few_months');
    assert.equal(reasonOf([early, statement(whole)]), 'confirmed');
  });
  it('a month of the future goes to an operator', () => {
    assert.equal(reasonOf([statement({ ...whole, '2026-12': 1 })]), 'future_month');
  });
  it('a gap, too few months and old months go to an operator', () => {
    assert.equal(reasonOf([statement({ '2026-07': 1e6, '2026-08': 1e6, '2026-10': 1e6 })]), 'too_few_months');
    assert.equal(reasonOf([statement({ '2026-10': 1e6 })]), 'too_few_months');
    assert.equal(reasonOf([statement({})]), 'too_few_months');
    assert.equal(reasonOf([statement({ '2026-06': 1e6, '2026-07': 1e6, '2026-08': 1e6 })]), 'too_old');
    assert.equal(reasonOf([statement({ '2026-07': 1e6, '2026-08': 1e6, '2026-09': 1e6 })]), 'confirmed');
  });
  it('nothing at all goes to an operator', () => assert.equal(reasonOf([]), 'no_documents'));
});

describe('D44: several statements', () => {
  const whole = of(1_000_000);
  it('overlap and count each month once', () => {
    const judged = judge(declares(1_000_000), [
      statement({ '2026-08': 1e6, '2026-09': 1e6 }),
      statement({ '2026-09': 1e6, '2026-10': 1e6 }),
    ]);
    assert.deepEqual([judged.reason, judged.observed], ['confirmed', 1e8]);
  });
  it('of several platforms add up', () => {
    const judged = judge(declares(1_000_000), [statement(of(5e5)), statement(of(6e5), { source: 'other' })]);
    assert.deepEqual([judged.reason, judged.observed], ['confirmed', 1_100_000_00]);
  });
  it('that differ about a month go to an operator', () => {
    assert.equal(reasonOf([statement(whole), statement({ '2026-09': 999_999 })]), 'contradiction');
    const twice = statement(
      {},
      {
        months: [
          { month: '2026-10', amount: 1 },
          { month: '2026-10', amount: 2 },
        ],
      },
    );
    assert.equal(reasonOf([twice]), 'contradiction');
  });
  it('in another currency, or in none that is known, go to an operator', () => {
    assert.equal(
      reasonOf([statement(whole), statement({ '2026-09': 1e6 }, { currency: 'USD' })]),
      'other_currency',
    );
    assert.equal(reasonOf([statement(whole, { currency: null })]), 'other_currency');
  });
  it('with a negative amount go to an operator', () => {
    assert.equal(reasonOf([statement({ ...whole, '2026-09': -1 })]), 'negative_amount');
  });
});

const MONTH = fc
  .integer({ min: 0, max: 13 })
  .map((n) => `${2025 + Math.floor((n + 10) / 12)}-${String(((n + 10) % 12) + 1).padStart(2, '0')}`);
const OBSERVATION: fc.Arbitrary<Observation> = fc.record({
  source: fc.constantFrom('rodar', 'other', 'third'),
  currency: fc.constantFrom('COP', 'COP', 'COP', 'USD', null),
  issued: fc.option(MONTH),
  months: fc.array(fc.record({ month: MONTH, amount: fc.integer({ min: -5, max: 9e13 }) }), { maxLength: 6 }),
});
const OBSERVATIONS = fc.array(OBSERVATION, { maxLength: 5 });

describe('D44: for any statements', () => {
  it('their order and their repetition change nothing', () => {
    const shuffled = OBSERVATIONS.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2 })),
    );
    fc.assert(
      fc.property(shuffled, ([all, other]) => {
        const turned = other.map((one) => ({ ...one, months: one.months.toReversed() }));
        assert.deepEqual(judge(declares(1_000_000), all), judge(declares(1_000_000), turned));
      }),
      { numRuns: 500 },
    );
  });

  it('only whole months count, as many as the rules say, one after the other', () => {
    fc.assert(
      fc.property(OBSERVATIONS, fc.integer({ min: 1, max: 4 }), (all, months) => {
        const judged = judge(declares(1_000_000), all, { ...DEFAULT_INCOME_RULES, months });
        if (judged.observed === null) return assert.deepEqual(judged.months, []);
        assert.equal(judged.months.length, months);
        for (const { month } of judged.months) assert.ok(month <= CALENDAR.lastWhole);
        assert.equal(new Set(judged.months.map(({ month }) => month)).size, months);
        const amounts = judged.months.map(({ amount }) => amount);
        assert.ok(judged.observed <= Math.max(...amounts) && judged.observed >= Math.min(...amounts));
      }),
      { numRuns: 500 },
    );
  });

  it('a higher declared income never makes an outcome better', () => {
    const rank = { confirmed: 0, adjusted: 1, operator: 2 };
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000_000 }),
        fc.integer({ min: 0, max: 10_000_000 }),
        (income, more) => {
          const seen = [statement(of(1_000_000))];
          const low = judge(declares(income, { debt_amount: 10_000 }), seen);
          const high = judge(declares(income + more, { debt_amount: 10_000 }), seen);
          assert.ok(rank[low.outcome] <= rank[high.outcome]);
        },
      ),
    );
  });
});
