/** A policy is checked as a lender would (D51): what refuses it, and what has to be accepted. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DEBT_AGES, NUM_DEBTS, PRIOR_HISTORIES } from '../../../src/domain/application/fields.ts';
import { cardOf } from '../../../src/domain/scorecard/card.ts';
import { constantsOf } from '../../../src/domain/scorecard/constants.ts';
import { documentOf } from '../../../src/domain/scorecard/content.ts';
import type { PolicyDocument } from '../../../src/domain/scorecard/document.ts';
import { FINDINGS, findingsOf } from '../../../src/domain/scorecard/findings.ts';
import { DEFAULT_POLICY, type Form1 } from '../../../src/domain/scorecard/form-1.ts';
import type { DecisionFacts } from '../../../src/domain/scorecard/scorecard.ts';
import { MAX_POINTS } from '../../../src/domain/scorecard/scorecard.ts';
import { checkPolicy } from '../../../src/subjects/policies/rules/check-policy.ts';

const AT = { today: '2026-11-30', realFactors: {} };
const SOUND = documentOf(DEFAULT_POLICY);
const codesOf = (document: PolicyDocument, at: Parameters<typeof findingsOf>[1] = AT) => [
  ...new Set(findingsOf(document, at).map(({ code }) => code)),
];
const form1 = (changes: Partial<Form1>) => codesOf(documentOf({ ...DEFAULT_POLICY, ...changes }));
const limit = (changes: Partial<Form1['amount_limit']>) =>
  form1({ amount_limit: { ...DEFAULT_POLICY.amount_limit, ...changes } });

type Characteristics = PolicyDocument['characteristics'];
const withCharacteristics = (changes: Partial<Characteristics>): PolicyDocument => ({
  ...SOUND,
  characteristics: { ...SOUND.characteristics, ...changes },
});
const capacity = (...attributes: Characteristics['payment_capacity']['attributes']) =>
  withCharacteristics({ payment_capacity: { attributes } });

describe('findings', () => {
  it('D51: of the built-in policy: one cell alone is rejected by its score', () => {
    assert.deepEqual(codesOf(SOUND), ['single_cell_decision']);
  });

  it('D51: each of eight nonsense policies is told', () => {
    assert.ok(
      form1({
        payment_capacity: [
          { min_ratio: 4, points: 5 },
          { min_ratio: 2, points: 20 },
        ],
      }).includes('against_direction'),
      'more income, fewer points',
    );
    assert.ok(form1({ debt_age: { lt6: 2, '6a12': 8, '1a2': 15, gt2: 20 } }).includes('against_direction'));
    assert.ok(
      form1({ decision: { approved: 0, in_review: 0 } }).includes('decision_unreachable'),
      'all approved',
    );
    assert.ok(
      form1({ decision: { approved: 100, in_review: 30 }, channel: { gig: 10 } }).includes(
        'decision_unreachable',
      ),
    );
    assert.ok(form1({ payment_capacity: [] }).includes('constant_characteristic'), 'no bands of capacity');
    assert.deepEqual(limit({ rates_as_of: '1999-02-31' }), ['not_a_day']);
    assert.ok(limit({ rates: { ...DEFAULT_POLICY.amount_limit.rates, COP: 4 } }).includes('rates_off'));
    assert.ok(limit({ usd: 1e300 }).includes('amount_limit_high'));
  });

  const errors: [string, PolicyDocument][] = [
    [
      'gap',
      capacity({ from: '0', to: '1', points: 0, reason: 'capacity_below_1' }, { from: '2', points: 25 }),
    ],
    ['gap', capacity({ from: '1', points: 25 })],
    ['gap', capacity({ from: '0', to: '4', points: 25 })],
    [
      'overlap',
      capacity({ from: '0', to: '2', points: 0, reason: 'capacity_below_2' }, { from: '1', points: 25 }),
    ],
    ['overlap', capacity({ from: '0', points: 0, reason: 'capacity_below_1' }, { from: '1', points: 25 })],
    [
      'overlap',
      capacity({ from: '0', to: '0', points: 0, reason: 'capacity_below_1' }, { from: '0', points: 25 }),
    ],
    ['value_missing', withCharacteristics({ prior_history: { attributes: [{ is: ['yes'], points: 15 }] } })],
    [
      'value_twice',
      withCharacteristics({
        prior_history: {
          attributes: [
            { is: ['yes', 'no'], points: 15 },
            { is: ['no'], points: 15 },
          ],
        },
      }),
    ],
    [
      'points_above_maximum',
      withCharacteristics({ prior_history: { attributes: [{ is: ['yes', 'no'], points: 16 }] } }),
    ],
    [
      'baseline_above_maximum',
      withCharacteristics({ prior_history: { ...SOUND.characteristics.prior_history, baseline: 16 } }),
    ],
    ['bands_out_of_order', { ...SOUND, decision: { approved: 30, in_review: 31 } }],
    [
      'currency_without_rate',
      { ...SOUND, rates: { as_of: '2026-11-01', COP: '4000' } as PolicyDocument['rates'] },
    ],
    ['not_a_day', { ...SOUND, valid_from: '2026-02-29' }],
    ['limit_twice', { ...SOUND, limits: [SOUND.limits[0]!, SOUND.limits[0]!] }],
    ['reason_without_text', { ...SOUND, limits: [{ id: 'a', usd: '1', reason: 'nobody_knows' }] }],
    [
      'reason_missing',
      withCharacteristics({
        prior_history: {
          attributes: [
            { is: ['yes'], points: 15 },
            { is: ['no'], points: 0 },
          ],
        },
      }),
    ],
    [
      'income_out_of_order',
      {
        ...SOUND,
        income: { months: 3, newest_within_months: 2, confirm_ratio: '0.5', rescore_ratio: '0.7' },
      },
    ],
    [
      'example_differs',
      {
        ...SOUND,
        examples: [
          {
            application: {
              income: 1e9,
              debt_amount: 1000,
              currency: 'COP',
              num_debts: '1',
              debt_age: 'lt6',
              prior_history: 'yes',
            },
            expect: { score: 99, decision: 'approved' },
          },
        ],
      },
    ],
  ];
  for (const [code, document] of errors) {
    it(`D51: ${code} refuses`, () => {
      const found = findingsOf(document, AT).filter((one) => one.severity === 'error');
      assert.deepEqual([...new Set(found.map((one) => one.code))], [code]);
      for (const { place, text } of found) assert.ok(place !== '' && text.length > 10);
    });
  }

  it('D51: circumstances alone make a finding: the age of the rates, and the real terms', () => {
    assert.ok(!codesOf(SOUND, { ...AT, today: '2027-01-30' }).includes('rates_old'), '90 days');
    assert.ok(codesOf(SOUND, { ...AT, today: '2027-01-31' }).includes('rates_old'), '91 days');
    assert.ok(!codesOf(SOUND, { ...AT, realFactors: { COP: 0.039 } }).includes('installment_below_terms'));
    const [dear] = findingsOf(SOUND, { ...AT, realFactors: { COP: 0.04, MXN: 0.05, PEN: 0.03924 } }).filter(
      ({ code }) => code === 'installment_below_terms',
    );
    assert.match(
      dear?.text ?? '',
      / in MXN, COP: in MXN 5\.00 %, and not 3\.92 %$/,
      'a rounded price is no other one',
    );
  });

  it('D51: the other warnings', () => {
    const { max_installment_share: _, ...amountAlone } = DEFAULT_POLICY.amount_limit;
    assert.ok(form1({ amount_limit: amountAlone }).includes('approves_without_capacity'));
    assert.ok(limit({ max_installment_share: 0.4 }).includes('unreachable_attribute'));
    assert.ok(form1({ decision: { approved: 71, in_review: 30 } }).includes('contract_bands'));
    const down = [
      { is: ['yes'], points: 0, reason: 'history' },
      { is: ['no'], points: 15 },
    ];
    const noDirection = withCharacteristics({ prior_history: { direction: 'none', attributes: down } });
    assert.ok(codesOf(noDirection).includes('no_direction'));
    assert.ok(codesOf({ ...SOUND, limits: [] }).includes('amount_limit_high'));
    assert.ok(
      form1({ decision: { approved: 90, in_review: 30 }, channel: { gig: 0 } }).includes(
        'decision_without_reason',
      ),
    );
  });

  it('D51: errors come first', () => {
    const order = Object.values(FINDINGS);
    assert.ok(order.lastIndexOf('error') < order.indexOf('warning'));
  });
});

/** A document of the right form, sensible or not. */
const reason = fc.constantFrom('no_history', 'one_debt');
/** Mostly one attribute for each value, within the maximum. */
const values = (names: readonly string[], most: number) =>
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.tuple(
        ...names.map((name) => fc.record({ is: fc.constant([name]), points: fc.nat(most), reason })),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.array(
        fc.record({ is: fc.subarray([...names], { minLength: 1 }), points: fc.nat(most + 5), reason }),
        { minLength: 1, maxLength: 4 },
      ),
    },
  );
const documents = fc
  .record({
    bounds: fc.array(fc.constantFrom('0', '0.5', '1', '1.5', '2', '4'), { minLength: 1, maxLength: 5 }),
    capacityPoints: fc.array(
      fc.oneof({ weight: 9, arbitrary: fc.nat(25) }, { weight: 1, arbitrary: fc.nat(30) }),
      { minLength: 5, maxLength: 5 },
    ),
    isSorted: fc.oneof(
      { weight: 5, arbitrary: fc.constant(true) },
      { weight: 1, arbitrary: fc.constant(false) },
    ),
    debt_age: values(DEBT_AGES, 20),
    num_debts: values(NUM_DEBTS, 20),
    prior_history: values(PRIOR_HISTORIES, 15),
    decision: fc.record({
      approved: fc.integer({ min: 0, max: 100 }),
      in_review: fc.integer({ min: 0, max: 100 }),
    }),
    usd: fc.constantFrom('1', '25000', '999999999999999'),
    share: fc.constantFrom('0.4', '1', '3'),
  })
  .map(({ bounds, capacityPoints, isSorted, decision, usd, share, ...rest }): PolicyDocument => {
    const starts = isSorted ? [...new Set(['0', ...bounds])].sort((a, b) => Number(a) - Number(b)) : bounds;
    return {
      ...SOUND,
      decision,
      limits: [
        { id: 'amount', usd, reason: 'amount_above_limit' },
        { id: 'share', installments_of_income: share, reason: 'installment_above_share' },
      ],
      characteristics: {
        ...SOUND.characteristics,
        payment_capacity: {
          attributes: starts.map((from, index) => ({
            from,
            ...(starts[index + 1] !== undefined && { to: starts[index + 1]! }),
            points: capacityPoints[index % 5]!,
            reason: 'capacity_below_2',
          })),
        },
        debt_age: { attributes: rest.debt_age },
        num_debts: { attributes: rest.num_debts },
        prior_history: { attributes: rest.prior_history },
      },
    };
  });

describe('properties', () => {
  const application = fc.record({
    income: fc.double({ min: 0.01, max: 1e9, noNaN: true }),
    debt_amount: fc.double({ min: 0.01, max: 1e9, noNaN: true }),
    currency: fc.constantFrom('COP' as const, 'USD' as const),
    num_debts: fc.constantFrom(...NUM_DEBTS),
    debt_age: fc.constantFrom(...DEBT_AGES),
    prior_history: fc.constantFrom(...PRIOR_HISTORIES),
  });

  it('D51: what is not refused scores every application within bounds, and up where no warning says otherwise', () => {
    let taken = 0;
    fc.assert(
      fc.property(
        documents,
        fc.array(application, { minLength: 5, maxLength: 5 }),
        (document, applications) => {
          if (!isOfForm(document)) return;
          const found = findingsOf(document, AT);
          for (const one of found) assert.ok(one.place !== '' && one.text !== '');
          if (found.some(({ severity }) => severity === 'error')) return;
          taken += 1;
          const card = cardOf(document, constantsOf(document));
          const isUp = !found.some(({ code }) => code === 'against_direction');
          for (const facts of applications) {
            const { points: given, score, reasons } = card.decide(facts);
            for (const [name, most] of Object.entries(MAX_POINTS)) {
              const got = given[name as keyof typeof given];
              assert.ok(Number.isInteger(got) && got >= 0 && got <= most);
            }
            assert.ok(score >= 0 && score <= 100 && reasons.length <= 4);
            if (isUp) for (const better of betterOnes(facts)) assert.ok(card.decide(better).score >= score);
          }
        },
      ),
      { numRuns: 400 },
    );
    assert.ok(taken > 20, `only ${taken} documents were taken`);
  });

  function isOfForm(document: PolicyDocument): boolean {
    try {
      checkPolicy(document, 'made');
      return true;
    } catch {
      return false;
    }
  }

  function betterOnes(facts: DecisionFacts): DecisionFacts[] {
    return [
      { ...facts, income: facts.income * 2 },
      { ...facts, debt_age: DEBT_AGES[Math.max(0, DEBT_AGES.indexOf(facts.debt_age) - 1)]! },
      { ...facts, num_debts: NUM_DEBTS[Math.max(0, NUM_DEBTS.indexOf(facts.num_debts) - 1)]! },
      { ...facts, prior_history: 'yes' },
    ];
  }
});
