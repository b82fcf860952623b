/**
 * Reads the facts of stored batches back as what was decided and from what (D30, D51): the inverse of `encodeFacts`
 * (`prepared-batch.ts`). Facts outlive an erasure, and no key is needed. Pure.
 */
import { DEBT_AGES, NUM_DEBTS, PRIOR_HISTORIES } from '../../../domain/application/fields.ts';
import {
  CRITERIA,
  DECISIONS,
  type Decision,
  type DecisionFacts,
} from '../../../domain/scorecard/scorecard.ts';
import { CURRENCIES, type Currency } from '../../../ground/base/country-data.ts';
import { keysOf } from '../../../ground/base/keys-of.ts';
import { FACT_BYTES, FACT_OFFSETS } from './prepared-batch.ts';

/** What was decided of an application when it was registered, and from what. */
export interface DecidedFacts {
  readonly facts: DecisionFacts;
  readonly score: number;
  readonly decision: Decision;
  /** By criterion, in the contract's order. */
  readonly points: readonly number[];
}

/** The code of a currency as the number of its three bytes. */
const CURRENCY_OF = new Map<number, Currency>(
  keysOf(CURRENCIES).map((code) => [Buffer.from(code, 'latin1').readUIntBE(0, 3), code]),
);

/** The number of positions of a batch, with and without an application. */
export function positionsIn(bytes: Buffer): number {
  return Math.floor(bytes.length / FACT_BYTES);
}

/**
 * The facts at a position; null: there is no application; `damaged`: what is there was never written so.
 */
export function decidedAt(bytes: Buffer, position: number): DecidedFacts | null | 'damaged' {
  const start = position * FACT_BYTES;
  const code = bytes.readUIntBE(start + FACT_OFFSETS.currency, 3);
  if (code === 0) return null;
  const currency = CURRENCY_OF.get(code);
  const codes = bytes[start + FACT_OFFSETS.codes]!;
  const decision = DECISIONS[codes & 3];
  const numDebts = NUM_DEBTS[(codes >> 4) & 3];
  const income = bytes.readDoubleBE(start + FACT_OFFSETS.income);
  const debtAmount = bytes.readDoubleBE(start + FACT_OFFSETS.debtAmount);
  if (currency === undefined || decision === undefined || numDebts === undefined) return 'damaged';
  if (!(Number.isFinite(income) && income > 0 && Number.isFinite(debtAmount) && debtAmount > 0))
    return 'damaged';
  const points = [];
  for (let index = 0; index < CRITERIA.length; index += 1)
    points.push(bytes[start + FACT_OFFSETS.points + index]!);
  return {
    facts: {
      income,
      debt_amount: debtAmount,
      currency,
      num_debts: numDebts,
      debt_age: DEBT_AGES[(codes >> 6) & 3]!,
      prior_history: PRIOR_HISTORIES[(codes >> 3) & 1]!,
    },
    score: bytes[start + FACT_OFFSETS.score]!,
    decision,
    points,
  };
}
