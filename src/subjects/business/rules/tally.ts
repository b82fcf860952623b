/** Counts of the business by day, partner and currency, as a turn of the upkeep adds them up. Pure. */
import { bucketOf, type Step } from '../../../domain/application/waits.ts';

/** What is counted, in the order of the business's way; amounts are in minor units. */
export const COUNTS = [
  'registered',
  'approved',
  'in_review',
  'rejected',
  'review_approved',
  'review_rejected',
  'overridden',
  'started',
  'documents',
  'offered',
  'signed',
  'withdrawn',
  'disbursed',
] as const;
export type CountName = (typeof COUNTS)[number];

export const REFUSALS = ['duplicate', 'over_quota', 'invalid'] as const;
export type RefusalName = (typeof REFUSALS)[number];
export const AMOUNTS = ['amount_registered', 'amount_disbursed'] as const;
export type AmountName = (typeof AMOUNTS)[number];

/** ISO 4217 for "no currency": the application was deleted before the event was counted. */
export const NO_CURRENCY = 'XXX';

/** Where something counts. `day` is in UTC: `2026-11-30`. */
export interface Place {
  readonly day: string;
  readonly partnerId: number;
  readonly currency: string;
}

/** The counts of a place that are not 0. */
export interface TallyRow {
  readonly place: Place;
  readonly counts: ReadonlyMap<CountName, number>;
  readonly amounts: ReadonlyMap<AmountName, bigint>;
}

/** How many applications took a time of a bucket to a step. `day` is in UTC. */
export interface WaitRow {
  readonly day: string;
  readonly partnerId: number;
  readonly step: Step;
  readonly bucket: number;
  times: number;
}

interface Row extends TallyRow {
  readonly counts: Map<CountName, number>;
  readonly amounts: Map<AmountName, bigint>;
}

export class Tally {
  readonly #rows = new Map<string, Row>();
  readonly #waits = new Map<string, WaitRow>();

  get rows(): TallyRow[] {
    return [...this.#rows.values()];
  }

  get waits(): readonly Readonly<WaitRow>[] {
    return [...this.#waits.values()];
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

  /** Counts the time from one step to the next; `from` null: nobody knows when the step before was. */
  wait({ day, partnerId }: Omit<Place, 'currency'>, step: Step, from: Date | null, to: Date): void {
    if (from === null) return;
    const bucket = bucketOf(to.getTime() - from.getTime());
    const key = `${day} ${partnerId} ${step} ${bucket}`;
    const found = this.#waits.get(key) ?? { day, partnerId, step, bucket, times: 0 };
    found.times += 1;
    this.#waits.set(key, found);
  }

  #at(place: Place): Row {
    const key = `${place.day} ${place.partnerId} ${place.currency}`;
    let found = this.#rows.get(key);
    if (found === undefined) {
      found = { place, counts: new Map(), amounts: new Map() };
      this.#rows.set(key, found);
    }
    return found;
  }
}
