/**
 * Reads the facts of stored batches back as what was decided and from what (D30, D51): the inverse of `encodeFacts`
 * (`prepared-batch.ts`). Facts outlive an erasure, and no key is needed. Pure.
 */
import { DEBT_AGES, NUM_DEBTS, PRIOR_HISTORIES } from '../../../domain/application/fields.ts';
import { DECISIONS, type Decision, type DecisionFacts } from '../../../domain/scorecard/scorecard.ts';
import { CURRENCIES, type Currency } from '../../../ground/base/country-data.ts';
import { keysOf } from '../../../ground/base/keys-of.ts';
import { FACT_BYTES, FACT_OFFSETS } from './prepared-batch.ts';

/** The code of a currency as the number of its three bytes. */
const CURRENCY_OF = new Map<number, Currency>(
  keysOf(CURRENCIES).map((code) => [Buffer.from(code, 'latin1').readUIntBE(0, 3), code]),
);

/**
 * What was decided of one application after the other when they were registered, and from what. `read` puts the next
 * one in the place of the one before: a million applications make no objects.
 */
export class DecidedFacts {
  #buffer = Buffer.alloc(0);
  #bytes: DataView = new DataView(new ArrayBuffer(0));
  #start = 0;
  readonly #facts: { -readonly [K in keyof DecisionFacts]: DecisionFacts[K] } = {
    ...{ income: 0, debt_amount: 0, currency: 'USD', num_debts: '1', debt_age: 'lt6', prior_history: 'yes' },
  };
  score = 0;
  decision: Decision = 'rejected';

  get facts(): DecisionFacts {
    return this.#facts;
  }

  /** Begins a batch. Returns the number of its positions, with and without an application. */
  begin(bytes: Buffer): number {
    this.#bytes = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return Math.floor(bytes.length / FACT_BYTES);
  }

  /** As `begin`, of a text in base64. One buffer serves all batches, so a million applications leave no garbage. */
  beginText(base64: string): number {
    if (this.#buffer.length < base64.length) this.#buffer = Buffer.alloc(base64.length * 2);
    return this.begin(this.#buffer.subarray(0, this.#buffer.write(base64, 'base64')));
  }

  /** Reads a position. `none`: it has no application; `damaged`: what is there was never written so. */
  read(position: number): 'read' | 'none' | 'damaged' {
    const start = position * FACT_BYTES;
    const bytes = this.#bytes;
    const facts = this.#facts;
    this.#start = start;
    const code =
      (bytes.getUint16(start + FACT_OFFSETS.currency) << 8) |
      bytes.getUint8(start + FACT_OFFSETS.currency + 2);
    if (code === 0) return 'none';
    const currency = CURRENCY_OF.get(code);
    const codes = bytes.getUint8(start + FACT_OFFSETS.codes);
    const decision = DECISIONS[codes & 3];
    const numDebts = NUM_DEBTS[(codes >> 4) & 3];
    const income = bytes.getFloat64(start + FACT_OFFSETS.income);
    const debtAmount = bytes.getFloat64(start + FACT_OFFSETS.debtAmount);
    if (currency === undefined || decision === undefined || numDebts === undefined) return 'damaged';
    if (!(income > 0 && income < Number.POSITIVE_INFINITY)) return 'damaged';
    if (!(debtAmount > 0 && debtAmount < Number.POSITIVE_INFINITY)) return 'damaged';
    facts.income = income;
    facts.debt_amount = debtAmount;
    facts.currency = currency;
    facts.num_debts = numDebts;
    facts.debt_age = DEBT_AGES[(codes >> 6) & 3]!;
    facts.prior_history = PRIOR_HISTORIES[(codes >> 3) & 1]!;
    this.score = bytes.getUint8(start + FACT_OFFSETS.score);
    this.decision = decision;
    return 'read';
  }

  /** The points of a criterion, by its place in the contract's order. */
  pointsOf(index: number): number {
    return this.#bytes.getUint8(this.#start + FACT_OFFSETS.points + index);
  }
}
