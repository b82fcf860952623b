/** What the console's page computes from counts is what a backtest counts, to the unit (D51). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cardOf } from '../../src/domain/scorecard/card.ts';
import { constantsOf } from '../../src/domain/scorecard/constants.ts';
import { documentOf } from '../../src/domain/scorecard/content.ts';
import type { PolicyDocument } from '../../src/domain/scorecard/document.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { CRITERIA, DECISIONS, type DecisionFacts, MAX_POINTS } from '../../src/domain/scorecard/scorecard.ts';
import {
  type Cube,
  countsOf,
  isWithin,
  keyOf,
  limitedBy,
  opened,
  placeOf,
  whatIf,
} from '../../src/domain/scorecard/what-if.ts';
import { Backtest } from '../../src/subjects/evaluation/rules/backtest-report.ts';
import { CubeCounts, rulerOf } from '../../src/subjects/evaluation/rules/cube.ts';
import { madeFacts, madePolicy, numbers } from './made-policies.ts';

const BASE = documentOf(DEFAULT_POLICY);
const cardOfDocument = (document: PolicyDocument) => cardOf(document, constantsOf(document));

/** Makes applications of which many are just at a limit, or a hair above or below it. */
function factsAround(document: PolicyDocument, next: (below: number) => number): () => DecisionFacts {
  const { usd, shares } = rulerOf(document, { steps: true });
  const constants = constantsOf({
    ...document,
    limits: usd.map((amount, index) => ({ id: `a_${index}`, usd: amount, reason: 'amount_above_limit' })),
  });
  return () => {
    const made = madeFacts(next);
    const hair = [1, 1 + Number.EPSILON, 1 - Number.EPSILON][next(3)]!;
    const amount = Number(constants.amounts[`a_${next(usd.length)}`]![made.currency]);
    const debt_amount = next(2) === 0 ? made.debt_amount : amount * hair;
    const factor = Number(constants.factors[made.currency] ?? constants.factor);
    const share = Number(shares[next(shares.length)]);
    const income = next(2) === 0 ? made.income : ((debt_amount * factor) / share) * hair;
    return { ...made, debt_amount, income };
  };
}

/** The same policy with other points, bands and limits, all within what the counts can tell. */
function edited(
  document: PolicyDocument,
  { usd, shares }: Pick<Cube, 'usd' | 'shares'>,
  next: (below: number) => number,
): PolicyDocument {
  const characteristics = Object.fromEntries(
    CRITERIA.map((criterion) => {
      const { attributes } = document.characteristics[criterion];
      const most = MAX_POINTS[criterion];
      return [
        criterion,
        { attributes: attributes.map((one) => (next(2) === 0 ? one : { ...one, points: next(most + 1) })) },
      ];
    }),
  ) as unknown as PolicyDocument['characteristics'];
  const in_review = next(70);
  return {
    ...document,
    version: 'edited-1',
    characteristics,
    decision: { approved: in_review + next(101 - in_review), in_review },
    limits: document.limits.map((limit) =>
      limit.usd === undefined
        ? { ...limit, installments_of_income: shares[next(shares.length)]! }
        : { ...limit, usd: usd[next(usd.length)]! },
    ),
  };
}

function compare(document: PolicyDocument, next: (below: number) => number, edits: number): void {
  const card = cardOfDocument(document);
  const counts = new CubeCounts(rulerOf(document, { steps: true }));
  const known = Array.from({ length: 2_000 }, factsAround(document, next));
  for (const facts of known) counts.add(facts, card.decide(facts).decision);
  const cube = opened(JSON.parse(JSON.stringify(counts.cube())));
  for (let n = 0; n < edits; n += 1) {
    const other = edited(document, cube, next);
    assert.ok(isWithin(cube, document, other));
    const backtest = new Backtest(cardOfDocument(other));
    const batch = backtest.batch(card, 1, '2026-11-01');
    for (const facts of known) batch.add(facts, card.decide(facts).decision);
    assert.deepEqual(whatIf(cube, other), backtest.report(new Map()).matrix);
  }
}

describe('what if', () => {
  it('D51: is the backtest to the unit, for 300 random edits of the built-in policy', () => {
    compare(BASE, numbers(34), 300);
  });

  it('D51: and for 10 edits of each of 30 made-up policies', () => {
    const next = numbers(51);
    for (let n = 0; n < 30; n += 1) compare(madePolicy(next), next, 10);
  });

  it('D51: a policy that does not change swaps nobody, and each attribute has its people', () => {
    const next = numbers(7);
    const card = cardOfDocument(BASE);
    const counts = new CubeCounts(rulerOf(BASE, { steps: true }));
    const known = Array.from({ length: 1_000 }, factsAround(BASE, next));
    for (const facts of known) counts.add(facts, card.decide(facts).decision);
    const cube = opened(counts.cube());
    const swaps = whatIf(cube, BASE)!;
    for (const before of DECISIONS)
      for (const after of DECISIONS) if (before !== after) assert.equal(swaps[before][after], 0);
    const found = countsOf(cube);
    assert.equal(found.debt_age[0], known.filter(({ debt_age }) => debt_age === 'lt6').length);
    assert.equal(found.payment_capacity[2], known.filter((one) => card.capacityOf(one) === 2).length);
    const [amount] = BASE.limits;
    const above = known.filter((one) => card.decide(one).reasons[0] === 'amount_above_limit');
    assert.equal(limitedBy(cube, amount!), above.length);
  });

  it('D51: what the counts cannot tell is said: other bounds, rates, terms, and limits between the steps', () => {
    const { values, usd, shares } = rulerOf(BASE, { steps: true });
    const sizes = { values, usd, shares };
    const [amount, ...rest] = BASE.limits;
    const beyond: readonly PolicyDocument[] = [
      { ...BASE, rates: { ...BASE.rates, COP: '4001' } },
      { ...BASE, reference_installment: { months: 24, monthly_rate: '0.02' } },
      { ...BASE, limits: [{ ...amount!, usd: '25000.01' }, ...rest] },
      {
        ...BASE,
        characteristics: {
          ...BASE.characteristics,
          payment_capacity: { attributes: [{ from: '0', points: 0, reason: 'capacity_below_2' }] },
        },
      },
    ];
    for (const document of beyond) assert.equal(isWithin(sizes, BASE, document), false);
    assert.ok(isWithin(sizes, BASE, { ...BASE, limits: rest }), 'without a limit');
  });

  it('a key has its place, and a place its key', () => {
    const ruler = rulerOf(BASE, { steps: true });
    const next = numbers(3);
    for (let n = 0; n < 1_000; n += 1) {
      const key = next(5 * 24 * (ruler.usd.length + 1) * (ruler.shares.length + 1) * 3);
      assert.equal(keyOf(ruler, placeOf(ruler, key)), key);
    }
  });
});
