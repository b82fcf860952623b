/**
 * What another scorecard would decide of a time's applications, from counts alone (D51; docs/policy.md, "What if"). The
 * counts divide all applications by everything that points, bands and limits of a policy can tell apart, so the answer
 * is that of a backtest to the unit. Pure, and small: the console's page computes with it.
 */
import type { PolicyDocument } from './document.ts';
import { DECISIONS, type Decision } from './scorecard.ts';

/** The criteria that differ between applications, in the order of a key. */
export const AXES = ['payment_capacity', 'debt_age', 'num_debts', 'prior_history'] as const;
export type Axis = (typeof AXES)[number];

/** Applications of a time, counted. */
export interface Cube {
  /** The values of each criterion: of the payment capacity where each attribute begins. */
  readonly values: Readonly<Record<Axis, readonly string[]>>;
  /** Amounts in US dollars, upwards: a limit of the amount may be at one of them. */
  readonly usd: readonly string[];
  /** Shares of the income, upwards: a limit of the installment may be at one of them. */
  readonly shares: readonly string[];
  readonly applications: number;
  /** A key and its count, one pair after the other. `keyOf` makes the keys. */
  readonly cells: readonly number[];
}

/** The place of an application among the counts. */
export interface Place {
  /** The value of each criterion, by its index. */
  readonly at: Readonly<Record<Axis, number>>;
  /** How many of the cube's amounts it passes: those below it in the list. */
  readonly usd: number;
  /** How many of the cube's shares reject it: those below it in the list. */
  readonly shares: number;
  /** What was decided of it. */
  readonly before: Decision;
}

type Sizes = Pick<Cube, 'values' | 'usd' | 'shares'>;

/** How many places each part of a key has. */
function sizesOf({ values, usd, shares }: Sizes): number[] {
  return [...AXES.map((axis) => values[axis].length), usd.length + 1, shares.length + 1, DECISIONS.length];
}

/** The key of a place: at most 2^31 for a policy's own number of attributes. */
export function keyOf(sizes: Sizes, { at, usd, shares, before }: Place): number {
  const parts = [...AXES.map((axis) => at[axis]), usd, shares, DECISIONS.indexOf(before)];
  const each = sizesOf(sizes);
  return parts.reduce((key, part, index) => key * each[index]! + part, 0);
}

/** The place of a key. */
export function placeOf(sizes: Sizes, key: number): Place {
  const each = sizesOf(sizes);
  const parts: number[] = [];
  let rest = key;
  for (let index = each.length - 1; index >= 0; index -= 1) {
    parts.unshift(rest % each[index]!);
    rest = Math.floor(rest / each[index]!);
  }
  const [
    payment_capacity = 0,
    debt_age = 0,
    num_debts = 0,
    prior_history = 0,
    usd = 0,
    shares = 0,
    before = 0,
  ] = parts;
  return {
    ...{ at: { payment_capacity, debt_age, num_debts, prior_history }, usd, shares },
    before: DECISIONS[before]!,
  };
}

/** A cube whose keys are read: a page asks again at each move of a slider. */
export interface OpenCube extends Cube {
  readonly places: readonly (Place & { readonly count: number })[];
}

/** Reads the keys of a cube. */
export function opened(cube: Cube): OpenCube {
  const places = Array.from({ length: cube.cells.length / 2 }, (_, index) => ({
    ...placeOf(cube, cube.cells[2 * index]!),
    count: cube.cells[2 * index + 1]!,
  }));
  return { ...cube, places };
}

/** By the decision before, then by the one after. */
export type Swaps = Readonly<Record<Decision, Readonly<Record<Decision, number>>>>;

/** The points of each value of a criterion, in the order of the cube. */
export function pointsOf(document: PolicyDocument, values: Cube['values'], axis: Axis): number[] {
  if (axis === 'payment_capacity')
    return document.characteristics.payment_capacity.attributes.map(({ points }) => points);
  const { attributes } = document.characteristics[axis];
  return values[axis].map((value) => attributes.find(({ is }) => is.includes(value))?.points ?? 0);
}

/**
 * How many amounts and shares of the cube the limits of a document allow: an application that passes more is rejected.
 * null: a limit is at none of them.
 */
function limitsOf(document: PolicyDocument, { usd, shares }: Sizes): { usd: number; shares: number } | null {
  const found = { usd: usd.length, shares: shares.length };
  for (const limit of document.limits) {
    const [side, list, value] =
      limit.usd === undefined
        ? (['shares', shares, limit.installments_of_income] as const)
        : (['usd', usd, limit.usd] as const);
    const index = list.findIndex((one) => Number(one) === Number(value));
    if (index === -1) return null;
    found[side] = Math.min(found[side], index);
  }
  return found;
}

/**
 * Whether the counts tell what a document would decide: it differs from `base`, whose counts these are, in points,
 * bands, and limits at values of the cube, and in nothing that a decision depends on.
 */
export function isWithin(cube: Sizes, base: PolicyDocument, edited: PolicyDocument): boolean {
  const measure = ({ reference_installment, rates, characteristics }: PolicyDocument) =>
    JSON.stringify([
      reference_installment,
      Object.entries(rates).toSorted(([a], [b]) => (a < b ? -1 : 1)),
      characteristics.payment_capacity.attributes.map(({ from, to }) => [Number(from), to && Number(to)]),
    ]);
  return measure(base) === measure(edited) && limitsOf(edited, cube) !== null;
}

/**
 * What `document` would have decided: the numbers of a backtest of the same applications, to the unit. null: a limit is
 * at no value of the cube. `isWithin` says the rest of what the counts cannot tell.
 */
export function whatIf(cube: OpenCube, document: PolicyDocument): Swaps | null {
  const limits = limitsOf(document, cube);
  if (limits === null) return null;
  const points = Object.fromEntries(
    AXES.map((axis) => [axis, pointsOf(document, cube.values, axis)]),
  ) as Record<Axis, number[]>;
  const channel = document.characteristics.channel.attributes[0]?.points ?? 0;
  const { approved, in_review } = document.decision;
  const swaps = noSwaps();
  for (const { at, usd, shares, before, count } of cube.places) {
    const score = AXES.reduce((sum, axis) => sum + points[axis][at[axis]]!, channel);
    const byScore = score >= approved ? 'approved' : score >= in_review ? 'in_review' : 'rejected';
    // The limit at index i of the list rejects who passes more than i of them.
    const isLimited = usd > limits.usd || shares > limits.shares;
    swaps[before][isLimited ? 'rejected' : byScore] += count;
  }
  return swaps;
}

function noSwaps(): Record<Decision, Record<Decision, number>> {
  return Object.fromEntries(
    DECISIONS.map((before) => [before, Object.fromEntries(DECISIONS.map((after) => [after, 0]))]),
  ) as Record<Decision, Record<Decision, number>>;
}

/** How many applications have each value of each criterion. */
export function countsOf(cube: OpenCube): Readonly<Record<Axis, readonly number[]>> {
  const counts = Object.fromEntries(AXES.map((axis) => [axis, cube.values[axis].map(() => 0)])) as Record<
    Axis,
    number[]
  >;
  for (const { at, count } of cube.places) for (const axis of AXES) counts[axis][at[axis]]! += count;
  return counts;
}

/** How many applications a limit rejects; null: it is at no value of the cube. */
export function limitedBy(cube: OpenCube, limit: PolicyDocument['limits'][number]): number | null {
  const list = limit.usd === undefined ? cube.shares : cube.usd;
  const value = Number(limit.usd ?? limit.installments_of_income);
  const least = list.findIndex((one) => Number(one) === value);
  if (least === -1) return null;
  return cube.places
    .filter(({ usd, shares }) => (limit.usd === undefined ? shares : usd) > least)
    .reduce((sum, { count }) => sum + count, 0);
}
