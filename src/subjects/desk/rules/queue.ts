/**
 * The words and the limits of the queue: orders, states, filters, and how much operators may write and read (D48;
 * docs/operators.md, "The review queue" and "One application"). Pure.
 */

// First part: how much operators may write and read.

/** The most notes of an application. */
export const MOST_NOTES = 100;
/** The most characters (code points) of a note. */
export const MOST_NOTE_CHARACTERS = 2_000;
/** The most notes that an operator writes in an hour. */
export const MOST_NOTES_AN_HOUR = 120;
/** The most applications and files, counted together, that an operator reveals in an hour. */
export const MOST_REVEALS_AN_HOUR = 60;
/** The largest file that is shown; `document show ID --output` writes larger ones. */
export const MOST_SHOWN_BYTES = 10_000_000;

/**
 * The orders of the queue; each has an index. `due` begins with the shortest time left, `score` and `amount` with the
 * largest.
 */
export const QUEUE_ORDERS = ['due', 'oldest', 'score', 'amount'] as const;
/**
 * Why an application is in the queue: it waits for a reviewer, an operator has proposed a decision, or it is pended
 * until the applicant has sent what is missing.
 */
export const QUEUE_STATES = ['waiting', 'proposed', 'pended'] as const;
/** The largest count. More are told as `10,000+`. */
export const MOST_COUNTED = 10_000;

export type QueueOrder = (typeof QUEUE_ORDERS)[number];
export type QueueState = (typeof QUEUE_STATES)[number];

/** A place in an order: the row with which a page ended. `key` null: the item's time stands still. */
export interface QueuePlace {
  readonly id: number;
  readonly key: number | null;
}

/** The filters of the queue, in the names of the query. An absent one does not narrow it. */
export interface QueueFilter {
  readonly state?: QueueState;
  readonly partner?: number;
  readonly score_from?: number;
  readonly score_to?: number;
  readonly amount_from?: number;
  readonly amount_to?: number;
  readonly age_from?: number;
  readonly due_within?: number;
  readonly claim?: 'mine' | 'free';
}
