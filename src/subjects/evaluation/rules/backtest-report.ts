/**
 * What another policy would have decided of applications that are decided already (D51): counted while they pass by, in
 * constant memory. Pure.
 */
import type { Card } from '../../../domain/scorecard/card.ts';
import {
  type Assessment,
  DECISIONS,
  type Decision,
  type DecisionFacts,
} from '../../../domain/scorecard/scorecard.ts';
import { counted } from '../../../ground/base/counted.ts';
import type { Currency } from '../../../ground/base/country-data.ts';

/** By the decision before, then by the one after. */
export type Matrix = Readonly<Record<Decision, Readonly<Record<Decision, number>>>>;

/** The approvals of some applications, before and after. */
export interface Share {
  readonly name: string;
  readonly applications: number;
  readonly before: number;
  readonly after: number;
  /** The approval rate after, with its 95 % interval (Wilson). */
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

export interface BacktestReport {
  readonly applications: number;
  /** Facts that could not be read. They are in no other count. */
  readonly damaged: number;
  readonly matrix: Matrix;
  /** The debts in US dollars by the rates of the policy that is tried. */
  readonly usd: Matrix;
  /** Days on which an application was registered. */
  readonly days: number;
  readonly reviewsADay: { readonly before: number; readonly after: number };
  /** The `MOST_PARTNERS` with the most applications; the others are one more, at the end. */
  readonly partners: readonly PartnerShare[];
  readonly currencies: readonly Share[];
  /** By month, `YYYY-MM`. */
  readonly months: readonly Share[];
  /** Applications that have a reason, before and after. */
  readonly reasons: readonly { readonly code: string; readonly before: number; readonly after: number }[];
  /** Applications by score, 0 to 100. */
  readonly scores: { readonly before: readonly number[]; readonly after: readonly number[] };
}

export interface PartnerShare extends Share {
  /** null: several partners. */
  readonly id: number | null;
}

/** The partners that a report names. */
export const MOST_PARTNERS = 20;

interface Tally {
  applications: number;
  before: number;
  after: number;
}

const newTally = (): Tally => ({ applications: 0, before: 0, after: 0 });

/** Counts a backtest. */
export class Backtest {
  readonly #card: Card;
  readonly #usdOf: Readonly<Record<Currency, number>>;
  readonly #counts = new Float64Array(CELLS);
  readonly #usd = new Float64Array(CELLS);
  readonly #days = new Set<string>();
  readonly #partners = new Map<number, Tally>();
  readonly #currencies = new Map<string, Tally>();
  readonly #months = new Map<string, Tally>();
  /** How many applications have a result, by the card that decided them; so reasons are counted at the end. */
  readonly #before = new Map<Card, Float64Array>();
  readonly #after: Float64Array;
  #damaged = 0;

  /** `card` is the policy that is tried. */
  constructor(card: Card) {
    this.#card = card;
    this.#after = resultCounts(card);
    const { rates } = card.document;
    this.#usdOf = Object.fromEntries(
      Object.entries(rates).map(([currency, rate]) => [currency, 1 / Number(rate)]),
    ) as Record<Currency, number>;
  }

  /** Counts the applications of a batch, which `decided` has decided. */
  batch(decided: Card, partner: number, day: string) {
    this.#days.add(day);
    const ofPartner = entryOf(this.#partners, partner, newTally);
    const ofMonth = entryOf(this.#months, day.slice(0, 7), newTally);
    const results = entryOf(this.#before, decided, resultCounts);
    const card = this.#card;
    return {
      addDamaged: () => {
        this.#damaged += 1;
      },
      add: (facts: DecisionFacts, before: Decision) => {
        const result = card.resultOf(facts);
        const after = card.assessmentOf(result);
        const cell = cellOf(before, after.decision);
        this.#counts[cell]! += 1;
        this.#usd[cell]! += facts.debt_amount * this.#usdOf[facts.currency];
        const [was, is] = [before === 'approved' ? 1 : 0, after.decision === 'approved' ? 1 : 0];
        count(ofPartner, was, is);
        count(ofMonth, was, is);
        count(entryOf(this.#currencies, facts.currency, newTally), was, is);
        results[decided.resultOf(facts)]! += 1;
        this.#after[result]! += 1;
        return after;
      },
    };
  }

  #reasons(): BacktestReport['reasons'] {
    const reasons = new Map<string, { before: number; after: number }>();
    const add = (side: 'before' | 'after') => (assessment: Assessment, some: number) => {
      for (const code of assessment.reasons) entryOf(reasons, code, noReasons)[side] += some;
    };
    for (const [card, counts] of this.#before) eachResult(card, counts, add('before'));
    eachResult(this.#card, this.#after, add('after'));
    return [...reasons]
      .map(([code, counts]) => ({ code, ...counts }))
      .toSorted(
        (a, b) => Math.max(b.before, b.after) - Math.max(a.before, a.after) || (a.code < b.code ? -1 : 1),
      );
  }

  /** The partners that have been counted. */
  get partners(): readonly number[] {
    return [...this.#partners.keys()];
  }

  /** `names` has the names of partners; one without a name is shown by its id. */
  report(names: ReadonlyMap<number, string>): BacktestReport {
    const matrix = matrixOf(this.#counts);
    const days = Math.max(this.#days.size, 1);
    const reviews = (of: (before: Decision, after: Decision) => boolean) => {
      let sum = 0;
      for (const before of DECISIONS)
        for (const after of DECISIONS) if (of(before, after)) sum += matrix[before][after];
      return sum / days;
    };
    return {
      applications: this.#counts.reduce((sum, some) => sum + some, 0),
      damaged: this.#damaged,
      matrix,
      usd: matrixOf(this.#usd),
      days: this.#days.size,
      reviewsADay: {
        before: reviews((before) => before === 'in_review'),
        after: reviews((_, after) => after === 'in_review'),
      },
      partners: partnerShares(this.#partners, names),
      currencies: sharesOf(this.#currencies, mostFirst),
      months: sharesOf(this.#months, byName),
      reasons: this.#reasons(),
      scores: { before: scoresOf(this.#before), after: scoresOf([[this.#card, this.#after]]) },
    };
  }
}

const DECISION_INDEX = Object.fromEntries(DECISIONS.map((decision, index) => [decision, index])) as Record<
  Decision,
  number
>;

/** The cells of a matrix in a list. */
export const CELLS = DECISIONS.length ** 2;

/** The place of a cell of the matrix in a list of its counts. */
export function cellOf(before: Decision, after: Decision): number {
  return DECISION_INDEX[before] * DECISIONS.length + DECISION_INDEX[after];
}

const resultCounts = ({ results }: Card) => new Float64Array(results);
const noReasons = () => ({ before: 0, after: 0 });

function count(tally: Tally, was: number, is: number): void {
  tally.applications += 1;
  tally.before += was;
  tally.after += is;
}

/** The entry of a key, made at its first use. */
function entryOf<K, T>(entries: Map<K, T>, name: K, make: (name: K) => T): T {
  let found = entries.get(name);
  if (found === undefined) {
    found = make(name);
    entries.set(name, found);
  }
  return found;
}

/** The matrix of a list of its counts. */
export function matrixOf(counts: ArrayLike<number>): Matrix {
  const row = (before: number) =>
    Object.fromEntries(
      DECISIONS.map((after, index) => [after, counts[before * DECISIONS.length + index]!]),
    ) as Record<Decision, number>;
  return Object.fromEntries(DECISIONS.map((before, index) => [before, row(index)])) as Record<
    Decision,
    Record<Decision, number>
  >;
}

function sharesOf(tallies: Map<string, Tally>, order: (a: Share, b: Share) => number): Share[] {
  return [...tallies]
    .filter(([, { applications }]) => applications > 0)
    .map(([name, tally]) => shareOf(name, tally))
    .toSorted(order);
}

function shareOf(name: string, { applications, before, after }: Tally): Share {
  const [low, high] = wilson(after, applications);
  return { name, applications, before, after, rate: after / applications, low, high };
}

function partnerShares(tallies: Map<number, Tally>, names: ReadonlyMap<number, string>): PartnerShare[] {
  const all = [...tallies]
    .filter(([, { applications }]) => applications > 0)
    .map(([id, tally]) => ({ id, ...shareOf(names.get(id) ?? `partner ${id}`, tally) }))
    .toSorted((a, b) => b.applications - a.applications || a.id - b.id);
  const others = all.slice(MOST_PARTNERS);
  if (others.length === 0) return all;
  const sum = newTally();
  for (const { applications, before, after } of others) {
    sum.applications += applications;
    sum.before += before;
    sum.after += after;
  }
  return [
    ...all.slice(0, MOST_PARTNERS),
    { id: null, ...shareOf(counted(others.length, 'other partner'), sum) },
  ];
}

/** The scores of a card are 0 to 100 (contract, "Scoring"). */
function scoresOf(results: Iterable<readonly [Card, Float64Array]>): number[] {
  const scores = Array.from({ length: 101 }, () => 0);
  for (const [card, counts] of results)
    eachResult(card, counts, ({ score }, some) => {
      scores[score]! += some;
    });
  return scores;
}

/** What a card decides by each result that somebody has, and how many have it. */
function eachResult(
  card: Card,
  counts: Float64Array,
  take: (assessment: Assessment, some: number) => void,
): void {
  for (const [result, some] of counts.entries()) if (some > 0) take(card.assessmentOf(result), some);
}

const byName = (a: Share, b: Share) => (a.name < b.name ? -1 : 1);
const mostFirst = (a: Share, b: Share) => b.applications - a.applications || byName(a, b);

/** The standard normal deviate of 95 %. */
const Z = 1.959_963_984_540_054;

/** The Wilson score interval of `successes` of `trials`, which are at least one. */
export function wilson(successes: number, trials: number): [low: number, high: number] {
  const share = successes / trials;
  const divisor = 1 + Z ** 2 / trials;
  const middle = (share + Z ** 2 / (2 * trials)) / divisor;
  const half = (Z / divisor) * Math.sqrt((share * (1 - share)) / trials + Z ** 2 / (4 * trials ** 2));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

const WORDS: Readonly<Record<Decision, string>> = {
  approved: 'approved',
  in_review: 'in review',
  rejected: 'rejected',
};

/** What changes, in words, the largest change first: `412 rejected become approved`. */
export function changesInWords({ matrix }: Pick<BacktestReport, 'matrix'>): string[] {
  return DECISIONS.flatMap((before) =>
    DECISIONS.filter((after) => after !== before).map((after) => ({
      before,
      after,
      count: matrix[before][after],
    })),
  )
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
    .map(({ before, after, count }) => {
      const verb = count === 1 ? 'becomes' : 'become';
      return `${count} ${WORDS[before]} ${verb} ${WORDS[after]}`;
    });
}
