/**
 * Makes a policy's document a function from the facts of an application to its points, score, decision and reasons
 * (contract, "Scoring"; D27-D29, D50, D51; docs/policy.md). Pure and total: the same facts give the same result, bit
 * for bit, for ever (`constants.ts` says why).
 *
 * The characteristics divide all applications into cells: an attribute of the payment capacity, an age of the debt, a
 * number of debts, a history. The results of the cells, and of those that limits reject, are made before or at their
 * first use, so a decision is a look into a table.
 */
import { CURRENCIES } from '../../ground/base/country-data.ts';
import { DEBT_AGES, NUM_DEBTS, PRIOR_HISTORIES } from '../application/fields.ts';
import { byCurrency, type Constants } from './constants.ts';
import {
  type Characteristic,
  type PolicyDocument,
  VALUES,
  type ValueAttribute,
  type ValueCriterion,
} from './document.ts';
import { MOST_REASONS } from './reasons.ts';
import {
  type Assessment,
  CRITERIA,
  type Criterion,
  DEFAULT_INCOME_RULES,
  type DecisionFacts,
  type IncomeRules,
} from './scorecard.ts';

/** One cell of the scorecard: the applications that get the same points. */
export interface Cell {
  /** The index of the attribute of the payment capacity. */
  readonly capacity: number;
  readonly debtAge: (typeof DEBT_AGES)[number];
  readonly numDebts: (typeof NUM_DEBTS)[number];
  readonly priorHistory: (typeof PRIOR_HISTORIES)[number];
  /** What the score alone decides. */
  readonly byScore: Assessment;
}

type Amounts = Pick<DecisionFacts, 'income' | 'debt_amount' | 'currency'>;

/** A policy that decides. */
export interface Card {
  readonly version: string;
  readonly document: PolicyDocument;
  readonly cells: readonly Cell[];
  /** The index of the attribute of the payment capacity. */
  capacityOf(facts: Amounts): number;
  /** The monthly income in reference installments (D27). */
  ratioOf(facts: Amounts): number;
  decide(facts: DecisionFacts): Assessment;
  /** How many results there are. */
  readonly results: number;
  /** The result as a number below `results`: of the cell, and of the limits that reject. For counts of many. */
  resultOf(facts: DecisionFacts): number;
  /** What the card decides by this result. */
  assessmentOf(result: number): Assessment;
}

/** Cells with the same attribute of the payment capacity. */
const REST = DEBT_AGES.length * NUM_DEBTS.length * PRIOR_HISTORIES.length;

/** The card of a document that is checked, with the constants that were computed when it was added. */
export function cardOf(document: PolicyDocument, constants: Constants): Card {
  const bounds = document.characteristics.payment_capacity.attributes.map(({ from }) => Number(from));
  // A limit that is none of the amount has no highest amount, and one that is none of the income any share.
  const numbers = byCurrency((currency) => ({
    factor: Number(constants.factors[currency] ?? constants.factor),
    most: document.limits.map(({ id }) =>
      Number(constants.amounts[id]?.[currency] ?? Number.POSITIVE_INFINITY),
    ),
  }));
  const shares = document.limits.map(({ installments_of_income: share }) =>
    share === undefined ? Number.POSITIVE_INFINITY : Number(share),
  );
  const cells = cellsOf(document);
  const rejected = new Map<number, Assessment>();

  function ratioOf({ income, debt_amount, currency }: Amounts) {
    return income / (debt_amount * numbers[currency].factor);
  }

  function attributeAt(ratio: number): number {
    let index = bounds.length - 1;
    while (index > 0 && ratio < bounds[index]!) index -= 1;
    return index;
  }

  function resultOf(facts: DecisionFacts): number {
    const { factor, most } = numbers[facts.currency];
    const ratio = facts.income / (facts.debt_amount * factor);
    const cell =
      attributeAt(ratio) * REST +
      (DEBT_AGE_INDEX[facts.debt_age] * NUM_DEBTS.length + NUM_DEBTS_INDEX[facts.num_debts]) *
        PRIOR_HISTORIES.length +
      PRIOR_HISTORY_INDEX[facts.prior_history];
    let passed = 0;
    for (let index = 0; index < shares.length; index += 1)
      if (facts.debt_amount > most[index]! || ratio * shares[index]! < 1) passed |= 1 << index;
    return passed * cells.length + cell;
  }

  function assessmentOf(result: number): Assessment {
    return result < cells.length ? cells[result]!.byScore : (rejected.get(result) ?? rejectedBy(result));
  }

  function rejectedBy(result: number): Assessment {
    const cell = result % cells.length;
    const passed = (result - cell) / cells.length;
    const { points, score } = cells[cell]!.byScore;
    const codes = document.limits
      .filter((_, index) => (passed & (1 << index)) !== 0)
      .map(({ reason }) => reason);
    const reasons = ranked([...codes, ...lostReasons(cells[cell]!, document)]);
    const [limit = null] = codes;
    const assessment: Assessment = { points, score, decision: 'rejected', reasons, limit };
    rejected.set(result, assessment);
    return assessment;
  }

  const capacityOf = (facts: Amounts) => attributeAt(ratioOf(facts));
  const decide = (facts: DecisionFacts) => assessmentOf(resultOf(facts));
  const results = cells.length << shares.length;
  return {
    ...{ version: document.version, document, cells, results },
    ...{ capacityOf, ratioOf, resultOf, assessmentOf, decide },
  };
}

const indexes = <T extends string>(values: readonly T[]) =>
  Object.fromEntries(values.map((value, index) => [value, index])) as Record<T, number>;
const DEBT_AGE_INDEX = indexes(DEBT_AGES);
const NUM_DEBTS_INDEX = indexes(NUM_DEBTS);
const PRIOR_HISTORY_INDEX = indexes(PRIOR_HISTORIES);

/** All cells, in the order of their index. */
function cellsOf(document: PolicyDocument): Cell[] {
  const { payment_capacity } = document.characteristics;
  return payment_capacity.attributes.flatMap((_, capacity) =>
    DEBT_AGES.flatMap((debtAge) =>
      NUM_DEBTS.flatMap((numDebts) =>
        PRIOR_HISTORIES.map((priorHistory) => {
          const cell = { capacity, debtAge, numDebts, priorHistory };
          return { ...cell, byScore: assessCell(cell, document) };
        }),
      ),
    ),
  );
}

type Place = Omit<Cell, 'byScore'>;

function assessCell(cell: Place, document: PolicyDocument): Assessment {
  const points = Object.fromEntries(
    CRITERIA.map((criterion) => [criterion, attributeOf(criterion, cell, document).points]),
  ) as Record<Criterion, number>;
  const score = CRITERIA.reduce((sum, criterion) => sum + points[criterion], 0);
  const { approved, in_review } = document.decision;
  const decision = score >= approved ? 'approved' : score >= in_review ? 'in_review' : 'rejected';
  const reasons = decision === 'approved' ? [] : ranked(lostReasons(cell, document));
  return { points, score, decision, reasons, limit: null };
}

/** The attribute of a criterion that a cell has. */
function attributeOf(criterion: Criterion, cell: Place, { characteristics }: PolicyDocument) {
  if (criterion === 'payment_capacity') return characteristics.payment_capacity.attributes[cell.capacity]!;
  const values: Readonly<Record<ValueCriterion, string>> = {
    channel: VALUES.channel[0],
    debt_age: cell.debtAge,
    num_debts: cell.numDebts,
    prior_history: cell.priorHistory,
  };
  const value = values[criterion];
  return characteristics[criterion].attributes.find(({ is }: ValueAttribute) => is.includes(value))!;
}

/**
 * Whether these are facts that a card can decide by. Stored facts that are damaged may lack a value, or have one that
 * nobody sends.
 */
export function areDecidable(facts: Readonly<Record<keyof DecisionFacts, unknown>>): boolean {
  const { income, debt_amount, currency, num_debts, debt_age, prior_history } = facts;
  return (
    isAmountOfMoney(income) &&
    isAmountOfMoney(debt_amount) &&
    Object.hasOwn(CURRENCIES, currency as string) &&
    Object.hasOwn(NUM_DEBTS_INDEX, num_debts as string) &&
    Object.hasOwn(DEBT_AGE_INDEX, debt_age as string) &&
    Object.hasOwn(PRIOR_HISTORY_INDEX, prior_history as string)
  );
}

function isAmountOfMoney(value: unknown): boolean {
  return typeof value === 'number' && value > 0 && Number.isFinite(value);
}

/** The points that a reason counts from. */
export function baselineOf({ baseline, attributes }: Characteristic<{ readonly points: number }>): number {
  return baseline ?? Math.max(...attributes.map(({ points }) => points));
}

/**
 * The reasons of a cell by the points that it lost against the baseline, most points first; equal losses in the
 * contract's order of the criteria. The channel is nobody's doing, so it is never a reason.
 */
function lostReasons(cell: Place, document: PolicyDocument): string[] {
  return CRITERIA.filter((criterion) => criterion !== 'channel')
    .map((criterion) => {
      const { points, reason } = attributeOf(criterion, cell, document);
      return { reason, lost: baselineOf(document.characteristics[criterion]) - points };
    })
    .filter(({ lost }) => lost > 0)
    .toSorted((a, b) => b.lost - a.lost)
    .flatMap(({ reason }) => reason ?? []);
}

function ranked(codes: readonly string[]): readonly string[] {
  return [...new Set(codes)].slice(0, MOST_REASONS);
}

/** When an observed income confirms the declared one (D44). */
export function incomeRulesOf({ income }: PolicyDocument): IncomeRules {
  if (income === undefined) return DEFAULT_INCOME_RULES;
  return {
    ...income,
    confirm_ratio: Number(income.confirm_ratio),
    rescore_ratio: Number(income.rescore_ratio),
  };
}
