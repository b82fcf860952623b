/**
 * How many applications of a time each difference of two policies touches (D51): an attribute those who have it under
 * either policy, a limit those whom it rejects under one of them alone, a band those whom it decides otherwise. Pure.
 */
import { attributePlaces } from '../../../domain/scorecard/attribute-places.ts';
import type { PolicyDocument } from '../../../domain/scorecard/document.ts';
import type { Decision, DecisionFacts } from '../../../domain/scorecard/scorecard.ts';
import { AXES, pointsOf } from '../../../domain/scorecard/what-if.ts';
import { type Measured, REST, type Ruler, restOf, rulerOf } from './cube.ts';

/** What two policies make of the same applications. */
export interface PairReport {
  readonly applications: number;
  /** Those whom the second one decides otherwise. */
  readonly changed: number;
  /** By the place of a difference. A place that is absent touches nobody in a way that can be counted. */
  readonly touched: Readonly<Record<string, number>>;
}

/** One side of the comparison. */
interface Side {
  readonly document: PolicyDocument;
  readonly ruler: Ruler;
  readonly place: Measured;
  /** The points of each value of each axis, and those of the channel. */
  readonly points: readonly (readonly number[])[];
  readonly channel: number;
  /** The name of each attribute. */
  readonly places: ReturnType<typeof attributePlaces>;
  /** The place in the ruler's list of each limit, in the order of the document. */
  readonly limits: readonly { readonly id: string; readonly isUsd: boolean; readonly least: number }[];
}

function sideOf(document: PolicyDocument): Side {
  const ruler = rulerOf(document, { steps: false });
  return {
    ...{ document, ruler, place: { capacity: 0, usd: 0, shares: 0 } },
    points: AXES.map((axis) => pointsOf(document, ruler.values, axis)),
    channel: document.characteristics.channel.attributes[0]!.points,
    places: attributePlaces(document),
    limits: document.limits.map(({ id, usd, installments_of_income: share }) => ({
      ...{ id, isUsd: usd !== undefined },
      least: (usd === undefined ? ruler.shares : ruler.usd).findIndex(
        (one) => Number(one) === Number(usd ?? share),
      ),
    })),
  };
}

/** Counts what two policies make of applications. Its memory is that of the places that are not empty. */
export class PairCounts {
  readonly #sides: readonly [Side, Side];
  /** By what both policies tell apart. */
  readonly #counts = new Map<number, number>();
  readonly #sizes: readonly number[];

  constructor(before: PolicyDocument, after: PolicyDocument) {
    this.#sides = [sideOf(before), sideOf(after)];
    this.#sizes = this.#sides.flatMap(({ ruler }) => [
      ruler.values.payment_capacity.length,
      ruler.usd.length + 1,
      ruler.shares.length + 1,
    ]);
  }

  add(facts: DecisionFacts): void {
    let key = 0;
    for (const { ruler, place } of this.#sides) {
      ruler.measure(facts, place);
      key =
        (key * ruler.values.payment_capacity.length + place.capacity) * (ruler.usd.length + 1) + place.usd;
      key = key * (ruler.shares.length + 1) + place.shares;
    }
    key = key * REST + restOf(facts);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  report(): PairReport {
    const [a, b] = this.#sides;
    const touched = new Map<string, number>();
    const touch = (place: string, count: number) => touched.set(place, (touched.get(place) ?? 0) + count);
    let [applications, changed] = [0, 0];
    for (const [key, count] of this.#counts) {
      const rest = key % REST;
      const [first, second] = this.#placesOf(Math.floor(key / REST));
      applications += count;
      const [x, y] = [outcomeOf(a, first, rest), outcomeOf(b, second, rest)];
      if (x.decision !== y.decision) changed += count;
      for (const place of new Set([...x.attributes, ...y.attributes])) touch(place, count);
      for (const id of new Set([...x.limits, ...y.limits]))
        if (x.limits.includes(id) !== y.limits.includes(id)) touch(`limit ${id}`, count);
      for (const [band, place] of [
        ['approved', 'approved from'],
        ['in_review', 'in_review from'],
      ] as const) {
        const from = (side: Side) => side.document.decision[band];
        if (x.score >= from(a) !== x.score >= from(b)) touch(place, count);
      }
    }
    return { applications, changed, touched: Object.fromEntries(touched) };
  }

  #placesOf(key: number): [Measured, Measured] {
    const parts: number[] = [];
    let rest = key;
    for (const size of this.#sizes.toReversed()) {
      parts.unshift(rest % size);
      rest = Math.floor(rest / size);
    }
    const [capacity = 0, usd = 0, shares = 0, ...second] = parts;
    return [
      { capacity, usd, shares },
      { capacity: second[0]!, usd: second[1]!, shares: second[2]! },
    ];
  }
}

interface Outcome {
  readonly score: number;
  readonly decision: Decision;
  /** The places of the attributes that it has. */
  readonly attributes: readonly string[];
  /** The ids of the limits that reject it. */
  readonly limits: readonly string[];
}

function outcomeOf(side: Side, { capacity, usd, shares }: Measured, rest: number): Outcome {
  const { document, points, channel, places } = side;
  const history = rest % 2;
  const debts = Math.floor(rest / 2) % 3;
  const at = [capacity, Math.floor(rest / 6), debts, history];
  const score = at.reduce((sum, index, axis) => sum + points[axis]![index]!, channel);
  const { approved, in_review } = document.decision;
  const byScore = score >= approved ? 'approved' : score >= in_review ? 'in_review' : 'rejected';
  const limits = side.limits.filter(({ isUsd, least }) => (isUsd ? usd : shares) > least).map(({ id }) => id);
  return {
    ...{ score, limits, decision: limits.length > 0 ? 'rejected' : byScore },
    attributes: AXES.map((axis, index) => places[axis][at[index]!]!),
  };
}
