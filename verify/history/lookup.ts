/** Finds the parts of a history that belong together. */
import { accountOf } from '../../src/program/operations/acting.ts';
import type { Batch, Call, DeskAct, History, Move, Review, StoredApplication } from './history.ts';

/** The id of an application is below 2^53; a message after a review has 2^53 or 2^54 more. */
const APPLICATION_BITS = (1n << 53n) - 1n;

/** The application of a message. */
export function applicationOf(messageId: string): number {
  return Number(BigInt(messageId) & APPLICATION_BITS);
}

/** The batch and the position of an application that a client sent. */
export interface Sent {
  readonly batch: Batch;
  readonly position: number;
}

export class Lookup {
  readonly #stored: ReadonlyMap<number, StoredApplication>;
  readonly #byIdNumber: ReadonlyMap<string, readonly StoredApplication[]>;
  readonly #sent: ReadonlyMap<string, Sent>;
  readonly #reviews: ReadonlyMap<number, readonly Review[]>;
  readonly #deskActs: ReadonlyMap<number | null, readonly DeskAct[]>;

  constructor({ store, batches, reviews, deskActs }: History) {
    this.#stored = new Map(store.applications.map((one) => [one.id, one]));
    const sent = store.applications.filter(({ idNumber }) => idNumber !== null);
    this.#byIdNumber = Map.groupBy(sent, ({ idNumber }) => idNumber as string);
    this.#sent = new Map(
      batches.flatMap((batch) =>
        batch.applications.map(({ idNumber }, position) => [idNumber, { batch, position }] as const),
      ),
    );
    this.#reviews = Map.groupBy(reviews, ({ applicationId }) => applicationId);
    this.#deskActs = Map.groupBy(deskActs, ({ proposalId }) => proposalId);
  }

  stored(id: number): StoredApplication | undefined {
    return this.#stored.get(id);
  }

  /** The stored applications with an ID number: one at most, if all is well. */
  storedAs(idNumber: string): readonly StoredApplication[] {
    return this.#byIdNumber.get(idNumber) ?? [];
  }

  sent({ idNumber }: StoredApplication): Sent | undefined {
    return idNumber === null ? undefined : this.#sent.get(idNumber);
  }

  reviewsOf(id: number): readonly Review[] {
    return this.#reviews.get(id) ?? [];
  }

  /** What operators of the desk did with a proposal, in the order of the ends. */
  actsOn(proposalId: number): readonly DeskAct[] {
    return this.#deskActs.get(proposalId) ?? [];
  }

  /** The reviews by which this move may have come. */
  reviewsFor(id: number, move: Move): readonly Review[] {
    return this.reviewsOf(id).filter((review) => isLike(move, review) && review.end !== 'refused');
  }
}

/** Whether a move is what a review does, by the same operator of the desk or by the command line. */
export function isLike({ action, actor }: Move, review: Review): boolean {
  return action === review.action && accountOf(actor) === review.operatorId;
}

/** The answers with the status 200, in the order of their coming. */
export function answered({ calls }: Batch): (Call & { answer: NonNullable<Call['answer']> })[] {
  return calls.filter((call): call is Call & { answer: NonNullable<Call['answer']> } => {
    return call.answer?.status === 200;
  });
}

/** When the first request of a batch began. */
export function begunAt({ calls }: Batch): number {
  return Math.min(...calls.map(({ fromMs }) => fromMs));
}

/** From when on a batch is certainly stored: its first answer; Infinity where none came. */
export function knownAt(batch: Batch): number {
  return Math.min(...answered(batch).map(({ toMs }) => toMs));
}
