/** Counts of the business by hour, partner and currency, as a turn of the upkeep adds them up. Pure. */

/** What is counted, in the order of the business's way; amounts are in minor units. */
export const COUNTS = [
  'registered',
  'approved',
  'in_review',
  'rejected',
  'review_approved',
  'review_rejected',
  'started',
  'offered',
  'signed',
  'withdrawn',
  'disbursed',
] as const;
export type CountName = (typeof COUNTS)[number];

export const REFUSALS = ['duplicate', 'over_quota', 'invalid'] as const;
export const AMOUNTS = ['amount_registered', 'amount_disbursed'] as const;
export type AmountName = (typeof AMOUNTS)[number];

/** ISO 4217 for "no currency": the application was deleted before the event was counted. */
export const NO_CURRENCY = 'XXX';

/** Where something counts. `hour` is in UTC: `2026-11-30T17`. */
export interface Place {
  readonly hour: string;
  readonly partnerId: number;
  readonly currency: string;
}

/** The counts of a place that are not 0. */
export interface TallyRow {
  readonly place: Place;
  readonly counts: ReadonlyMap<CountName, number>;
  readonly amounts: ReadonlyMap<AmountName, bigint>;
}

interface Row extends TallyRow {
  readonly counts: Map<CountName, number>;
  readonly amounts: Map<AmountName, bigint>;
}

export class Tally {
  readonly #rows = new Map<string, Row>();

  get rows(): TallyRow[] {
    return [...this.#rows.values()];
  }

  /** Counts one more. */
  count(place: Place, name: CountName, times = 1): void {
    const { counts } = this.#at(place);
    counts.set(name, (counts.get(name) ?? 0) + times);
  }

  add(place: Place, name: AmountName, minor: bigint): void {
    const { amounts } = this.#at(place);
    amounts.set(name, (amounts.get(name) ?? 0n) + minor);
  }

  #at(place: Place): Row {
    const key = `${place.hour} ${place.partnerId} ${place.currency}`;
    let found = this.#rows.get(key);
    if (found === undefined) {
      found = { place, counts: new Map(), amounts: new Map() };
      this.#rows.set(key, found);
    }
    return found;
  }
}
