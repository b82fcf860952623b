/** Policies and applications that are made up from a seed, the same on each machine and in each version of Node. */
import { createHash } from 'node:crypto';
import { DEBT_AGES, NUM_DEBTS, PRIOR_HISTORIES } from '../../src/domain/application/fields.ts';
import { cardOfContent, documentOf } from '../../src/domain/scorecard/content.ts';
import type { PolicyDocument } from '../../src/domain/scorecard/document.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import type { DecisionFacts } from '../../src/domain/scorecard/scorecard.ts';

/** Whole numbers from 0 to `below` - 1 (xorshift32, so that no engine's mathematics decides). */
export function numbers(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** A policy that is not refused. */
export function madePolicy(next: (below: number) => number): PolicyDocument {
  const sound = documentOf(DEFAULT_POLICY);
  const bounds = [...new Set(Array.from({ length: 1 + next(6) }, () => 1 + next(80)))].toSorted(
    (a, b) => a - b,
  );
  const starts = ['0', ...bounds.map((tenths) => `${tenths / 10}`)];
  const attribute = (most: number, is: string) => ({
    is: [is],
    points: next(most + 1),
    reason: 'no_history',
  });
  return {
    ...sound,
    version: `made-${next(1_000_000)}`,
    reference_installment: { months: 1 + next(120), monthly_rate: `0.${`${next(1000)}`.padStart(4, '0')}` },
    characteristics: {
      ...sound.characteristics,
      payment_capacity: {
        attributes: starts.map((from, index) => ({
          from,
          ...(starts[index + 1] !== undefined && { to: starts[index + 1]! }),
          points: next(26),
          reason: 'capacity_below_2',
        })),
      },
      debt_age: { attributes: DEBT_AGES.map((value) => attribute(20, value)) },
      num_debts: { attributes: NUM_DEBTS.map((value) => attribute(20, value)) },
      prior_history: { attributes: PRIOR_HISTORIES.map((value) => attribute(15, value)) },
    },
    limits: [
      { id: 'amount', usd: `${1 + next(50_000)}.${1 + next(9)}`, reason: 'amount_above_limit' },
      { id: 'share', installments_of_income: `0.${1 + next(99)}`, reason: 'installment_above_share' },
    ],
  };
}

const CURRENCIES = ['COP', 'MXN', 'USD', 'CLP'] as const;

export function madeFacts(next: (below: number) => number): DecisionFacts {
  return {
    income: (1 + next(1_000_000_000)) / 100,
    debt_amount: (1 + next(1_000_000_000)) / 100,
    currency: CURRENCIES[next(4)]!,
    num_debts: NUM_DEBTS[next(3)]!,
    debt_age: DEBT_AGES[next(4)]!,
    prior_history: PRIOR_HISTORIES[next(2)]!,
  };
}

/** A digest of what made-up policies decide of made-up applications: `cards` policies with 1,000 applications each. */
export function digestOfPairs(cards: number, seed = 34): string {
  const next = numbers(seed);
  const hash = createHash('sha256');
  for (let card = 0; card < cards; card += 1) {
    const { decide, ratioOf } = cardOfContent(madePolicy(next));
    const said = [];
    for (let n = 0; n < 1_000; n += 1) {
      const facts = madeFacts(next);
      const { score, decision, reasons } = decide(facts);
      said.push(`${ratioOf(facts)} ${score} ${decision} ${reasons}`);
    }
    hash.update(said.join('\n'));
  }
  return hash.digest('hex');
}
