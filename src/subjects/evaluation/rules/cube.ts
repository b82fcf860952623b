/**
 * Counts the applications of a time into the cube of `domain/scorecard/what-if.ts`, by the same comparisons of doubles
 * by which a card decides. Pure.
 */
import { DEBT_AGES, NUM_DEBTS, PRIOR_HISTORIES } from '../../../domain/application/fields.ts';
import { byCurrency, constantsOf } from '../../../domain/scorecard/constants.ts';
import type { PolicyDocument } from '../../../domain/scorecard/document.ts';
import { DECISIONS, type Decision, type DecisionFacts } from '../../../domain/scorecard/scorecard.ts';
import type { Cube } from '../../../domain/scorecard/what-if.ts';

/** Where a limit may stand beside the values that the document has. */
const USD = [
  '500', '1000', '2000', '3000', '4000', '5000', '7500', '10000', '12500', '15000', '20000', '25000', '30000', '40000',
  '50000', '75000', '100000', '250000',
]; // biome-ignore format: one list
const SHARES = [
  '0.1', '0.15', '0.2', '0.25', '0.3', '0.35', '0.4', '0.45', '0.5', '0.55', '0.6', '0.65', '0.7', '0.75', '0.8',
  '0.85', '0.9', '0.95', '1',
]; // biome-ignore format: one list

/** The values upwards, each once; those of `own` as they are written there. */
function upwards(own: readonly string[], steps: readonly string[]): string[] {
  const found = new Map<number, string>();
  for (const text of [...own, ...steps]) if (!found.has(Number(text))) found.set(Number(text), text);
  return [...found].toSorted(([a], [b]) => a - b).map(([, text]) => text);
}

/** What tells applications apart, as a document measures them: attributes, and values that limits may have. */
export interface Ruler extends Pick<Cube, 'values' | 'usd' | 'shares'> {
  /** Sets `place` to that of an application. */
  measure(facts: DecisionFacts, place: Measured): void;
}

/** Where an application is. `capacity`, `usd` and `shares` are those of a key. */
export interface Measured {
  capacity: number;
  usd: number;
  shares: number;
}

/**
 * The ruler of a document. `steps`: limits may stand at the usual values too, and not at the document's alone. A saved
 * document decides with exact constants, so the ruler has these, whatever form the version was stored in.
 */
export function rulerOf(document: PolicyDocument, { steps }: { readonly steps: boolean }): Ruler {
  const own = { usd: document.limits.flatMap(({ usd }) => usd ?? []) };
  const shares = document.limits.flatMap(({ installments_of_income: share }) => share ?? []);
  const [usd, portions] = [upwards(own.usd, steps ? USD : []), upwards(shares, steps ? SHARES : [])];
  const limits = usd.map((amount, index) => ({
    id: `usd_${index}`,
    usd: amount,
    reason: 'amount_above_limit',
  }));
  const constants = constantsOf({ ...document, limits });
  const numbers = byCurrency((currency) => ({
    factor: Number(constants.factors[currency] ?? constants.factor),
    most: Float64Array.from(limits, ({ id }) => Number(constants.amounts[id]![currency])),
  }));
  const portionsOf = Float64Array.from(portions, Number);
  const { attributes } = document.characteristics.payment_capacity;
  const bounds = Float64Array.from(attributes, ({ from }) => Number(from));
  return {
    values: {
      payment_capacity: attributes.map(({ from }) => from),
      ...{ debt_age: DEBT_AGES, num_debts: NUM_DEBTS, prior_history: PRIOR_HISTORIES },
    },
    ...{ usd, shares: portions },
    measure({ income, debt_amount, currency }, place) {
      const { factor, most } = numbers[currency];
      const ratio = income / (debt_amount * factor);
      let capacity = bounds.length - 1;
      while (capacity > 0 && ratio < bounds[capacity]!) capacity -= 1;
      place.capacity = capacity;
      let passed = 0;
      while (passed < most.length && debt_amount > most[passed]!) passed += 1;
      place.usd = passed;
      passed = 0;
      while (passed < portionsOf.length && ratio * portionsOf[passed]! < 1) passed += 1;
      place.shares = passed;
    },
  };
}

const AGE = indexes(DEBT_AGES);
const DEBTS = indexes(NUM_DEBTS);
const HISTORY = indexes(PRIOR_HISTORIES);
const DECISION = indexes(DECISIONS);

function indexes<T extends string>(values: readonly T[]): Readonly<Record<T, number>> {
  return Object.fromEntries(values.map((value, index) => [value, index])) as Record<T, number>;
}

/** The place of an application among the fields with values, as a number below `REST`. */
export function restOf({ debt_age, num_debts, prior_history }: DecisionFacts): number {
  return (
    (AGE[debt_age] * NUM_DEBTS.length + DEBTS[num_debts]) * PRIOR_HISTORIES.length + HISTORY[prior_history]
  );
}
export const REST = DEBT_AGES.length * NUM_DEBTS.length * PRIOR_HISTORIES.length;

/** Counts applications. Its memory is that of the places that are not empty. */
export class CubeCounts {
  readonly #ruler: Ruler;
  readonly #place: Measured = { capacity: 0, usd: 0, shares: 0 };
  readonly #counts: Float64Array;
  #applications = 0;

  constructor(ruler: Ruler) {
    this.#ruler = ruler;
    const { values, usd, shares } = ruler;
    const places = values.payment_capacity.length * REST * (usd.length + 1) * (shares.length + 1);
    this.#counts = new Float64Array(places * DECISIONS.length);
  }

  /** Counts an application, and what was decided of it. */
  add(facts: DecisionFacts, before: Decision): void {
    const { usd, shares } = this.#ruler;
    const place = this.#place;
    this.#ruler.measure(facts, place);
    const cell = place.capacity * REST + restOf(facts);
    const limited = (cell * (usd.length + 1) + place.usd) * (shares.length + 1) + place.shares;
    this.#counts[limited * DECISIONS.length + DECISION[before]]! += 1;
    this.#applications += 1;
  }

  cube(): Cube {
    const cells: number[] = [];
    for (const [key, count] of this.#counts.entries()) if (count > 0) cells.push(key, count);
    const { values, usd, shares } = this.#ruler;
    return { values, usd, shares, applications: this.#applications, cells };
  }
}
