/** A card decides for every application, within its bounds, and gives its reasons in their order (D50, D51). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DEBT_AGES, NUM_DEBTS, PRIOR_HISTORIES } from '../../../src/domain/application/fields.ts';
import { areDecidable, cardOf } from '../../../src/domain/scorecard/card.ts';
import { constantsOf, textOfNumber } from '../../../src/domain/scorecard/constants.ts';
import { cardOfContent, documentOf, newConstantsOf } from '../../../src/domain/scorecard/content.ts';
import type { PolicyDocument } from '../../../src/domain/scorecard/document.ts';
import { DEFAULT_POLICY } from '../../../src/domain/scorecard/form-1.ts';
import { reasonWords } from '../../../src/domain/scorecard/reasons.ts';
import type { DecisionFacts } from '../../../src/domain/scorecard/scorecard.ts';
import { CRITERIA } from '../../../src/domain/scorecard/scorecard.ts';
import { CURRENCIES, type Currency } from '../../../src/ground/base/country-data.ts';

const CARD = cardOfContent(DEFAULT_POLICY);
const BEST: DecisionFacts = {
  income: 1e9,
  debt_amount: 1_000,
  currency: 'COP',
  num_debts: '1',
  debt_age: 'lt6',
  prior_history: 'yes',
};
const facts = fc.record({
  income: fc.oneof(fc.double({ min: 1, max: 1e9, noNaN: true }), fc.constantFrom(5e-324, 1e308)),
  debt_amount: fc.oneof(fc.double({ min: 1, max: 1e9, noNaN: true }), fc.constantFrom(5e-324, 1e308)),
  currency: fc.constantFrom(...(Object.keys(CURRENCIES) as Currency[])),
  num_debts: fc.constantFrom(...NUM_DEBTS),
  debt_age: fc.constantFrom(...DEBT_AGES),
  prior_history: fc.constantFrom(...PRIOR_HISTORIES),
});

describe('reasons', () => {
  const reasonsOf = (changes: Partial<DecisionFacts>) => CARD.decide({ ...BEST, ...changes }).reasons;

  it('D50: an approval has none', () => {
    assert.deepEqual(reasonsOf({}), []);
    assert.deepEqual(reasonsOf({ num_debts: '2', prior_history: 'no' }), []);
  });

  it('D50: limits come first in the order of the policy, then the points that were lost, most first', () => {
    assert.deepEqual(reasonsOf({ debt_amount: 1e9, income: 1e9 }), ['amount_above_limit']);
    assert.deepEqual(reasonsOf({ income: 1, debt_amount: 200_000_000 }), [
      'amount_above_limit',
      'installment_above_income',
      'capacity_below_1_5',
    ]);
    // 25 points for the capacity, 18 for the age, 16 for the debts, 15 for the history.
    const worst = {
      income: 50_000,
      debt_amount: 1e6,
      num_debts: '3',
      debt_age: 'gt2',
      prior_history: 'no',
    } as const;
    assert.deepEqual(reasonsOf(worst), ['capacity_below_1_5', 'debt_2_years', 'three_debts', 'no_history']);
    assert.deepEqual(reasonsOf({ ...worst, debt_amount: 1e9, income: 1e9 }), [
      'amount_above_limit',
      'debt_2_years',
      'three_debts',
      'no_history',
    ]);
  });

  it('D50: equal losses have the order of the criteria in the contract', () => {
    const document: PolicyDocument = {
      ...documentOf(DEFAULT_POLICY),
      characteristics: {
        ...documentOf(DEFAULT_POLICY).characteristics,
        prior_history: {
          attributes: [
            { is: ['yes'], points: 12 },
            { is: ['no'], points: 0, reason: 'no_history' },
          ],
        },
        debt_age: {
          attributes: [
            { is: ['lt6'], points: 12 },
            { is: ['6a12', '1a2', 'gt2'], points: 0, reason: 'debt_6_months' },
          ],
        },
      },
    };
    const card = cardOf(document, constantsOf(document));
    const { decision, reasons } = card.decide({ ...BEST, debt_age: 'gt2', prior_history: 'no' });
    assert.deepEqual([decision, reasons], ['in_review', ['debt_6_months', 'no_history']]);
  });

  it('D50: they equal those of a second way to find them, and each has a text in three languages', () => {
    const lost = (cell: DecisionFacts) => {
      const { points } = CARD.decide(cell);
      const maxima = { payment_capacity: 25, channel: 0, debt_age: 20, num_debts: 20, prior_history: 15 };
      return CRITERIA.filter((name) => name !== 'channel')
        .map((name, index) => ({ name, index, lost: maxima[name] - points[name] }))
        .filter((one) => one.lost > 0)
        .sort((a, b) => b.lost - a.lost || a.index - b.index)
        .map(({ name }) => name);
    };
    const codes: Record<string, (cell: DecisionFacts) => string> = {
      payment_capacity: (cell) => {
        const ratio = CARD.ratioOf(cell);
        return ratio < 1.5 ? 'capacity_below_1_5' : `capacity_below_${ratio < 2 ? 2 : ratio < 3 ? 3 : 4}`;
      },
      debt_age: ({ debt_age: age }) =>
        ({ lt6: '', '6a12': 'debt_6_months', '1a2': 'debt_1_year', gt2: 'debt_2_years' })[age],
      num_debts: ({ num_debts: count }) => ({ 1: '', 2: 'two_debts', 3: 'three_debts' })[count],
      prior_history: () => 'no_history',
    };
    fc.assert(
      fc.property(facts, (cell) => {
        const { decision, reasons, limit } = CARD.decide(cell);
        const limits = [
          ...(cell.debt_amount > 25_000 * CURRENCIES[cell.currency] ? ['amount_above_limit'] : []),
          ...(CARD.ratioOf(cell) < 1 ? ['installment_above_income'] : []),
        ];
        const all = [...limits, ...lost(cell).map((name) => codes[name]!(cell))];
        assert.deepEqual(reasons, decision === 'approved' ? [] : all.slice(0, 4));
        assert.equal(limit, limits[0] ?? null);
        for (const code of reasons) {
          const words = reasonWords(code);
          assert.ok(words && new Set([words.en, words.es, words.pt]).size === 3, code);
        }
      }),
    );
  });

  it('D50: the texts of ratios name the ratio as each language writes it', () => {
    assert.deepEqual(reasonWords('capacity_below_1_5'), {
      en: 'The income is less than 1.5 times the estimated installment',
      es: 'El ingreso es menos de 1,5 veces la cuota estimada',
      pt: 'A renda é menos de 1,5 vez a parcela estimada',
    });
    assert.equal(reasonWords('capacity_below_1')?.en, 'The income is less than the estimated installment');
    assert.equal(reasonWords('capacity_below_2')?.pt, 'A renda é menos de 2 vezes a parcela estimada');
    assert.equal(reasonWords('constructor'), null);
    assert.equal(reasonWords('mine', { mine: { en: 'a', es: 'b', pt: 'c' } })?.es, 'b');
  });
});

describe('constants', () => {
  it('D51: what version 1.0 decided with is decided with for ever, bit for bit', () => {
    const { factor, amounts } = newConstantsOf(DEFAULT_POLICY);
    assert.equal(factor, '0.03923285259779812');
    assert.equal(amounts.amount_cap?.COP, '100000000');
    const { months, monthly_rate: rate } = DEFAULT_POLICY.reference_installment;
    assert.equal(Number(factor), rate / (1 - (1 + rate) ** -months));
  });

  it('D51: the factor of a document is the double nearest to the annuity', () => {
    // 0.02 / (1 - 1.02^-36) in exact fractions.
    const { factor } = constantsOf(documentOf(DEFAULT_POLICY));
    const grown = 102n ** 36n;
    const digits = (2n * grown * 10n ** 60n) / (100n * (grown - 100n ** 36n));
    assert.equal(Number(factor), Number(`${digits}e-60`));
    assert.notEqual(Number(factor), 0.03923285259779812);
  });

  it('D51: a currency may have terms of its own', () => {
    const document: PolicyDocument = {
      ...documentOf(DEFAULT_POLICY),
      reference_installment: {
        months: 36,
        monthly_rate: '0.02',
        by_currency: { ARS: { months: 2, monthly_rate: '0' } },
      },
    };
    const card = cardOf(document, constantsOf(document));
    assert.equal(card.ratioOf({ income: 50, debt_amount: 100, currency: 'ARS' }), 1);
    assert.ok(card.ratioOf({ income: 50, debt_amount: 100, currency: 'COP' }) > 12);
  });

  it('D51: a number has a text that is read as the same number', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e300, noNaN: true }), (value) => {
        assert.equal(Number(textOfNumber(value)), value);
        assert.match(textOfNumber(value), /^\d+(\.\d*[1-9])?$/);
      }),
    );
    assert.deepEqual([1.5, 0, 4000, 1e-7, 1e21].map(textOfNumber), [
      '1.5',
      '0',
      '4000',
      '0.0000001',
      `1${'0'.repeat(21)}`,
    ]);
  });
});

describe('content', () => {
  it('D51: the first form says in its document what it has always said', () => {
    const { characteristics, limits, decision } = documentOf(DEFAULT_POLICY);
    assert.deepEqual(
      characteristics.payment_capacity.attributes.map(({ from, to, points }) => [from, to, points]),
      [
        ['0', '1.5', 0],
        ['1.5', '2', 7],
        ['2', '3', 13],
        ['3', '4', 20],
        ['4', undefined, 25],
      ],
    );
    assert.deepEqual(
      limits.map(({ id, usd, installments_of_income: share }) => [id, usd ?? share]),
      [
        ['amount_cap', '25000'],
        ['capacity_cap', '1'],
      ],
    );
    assert.deepEqual(decision, { approved: 70, in_review: 30 });
  });
});

describe('damaged facts', () => {
  it('D51: what nobody sends cannot be decided, and is told before', () => {
    assert.ok(areDecidable(BEST));
    fc.assert(fc.property(facts, (cell) => assert.ok(areDecidable(cell))));
    const wrong: [keyof DecisionFacts, unknown[]][] = [
      ['income', [null, 0, -1, Number.NaN, Number.POSITIVE_INFINITY, '1']],
      ['debt_amount', [null, 0, Number.NaN]],
      ['currency', [null, 'ZZZ', '', 'constructor']],
      ['num_debts', [null, '4', 'toString']],
      ['debt_age', [null, 'lt7']],
      ['prior_history', [null, 'si']],
    ];
    for (const [name, values] of wrong)
      for (const value of values) assert.ok(!areDecidable({ ...BEST, [name]: value }), `${name} ${value}`);
  });
});
