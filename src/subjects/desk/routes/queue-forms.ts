/** The forms of the queue of applications in review. A row has no personal data. */
import { type Static, Type } from 'typebox';
import { MOST_COUNTED, QUEUE_ORDERS, QUEUE_STATES } from '../rules/queue.ts';
import { By, form, oneOf, orNull, PartnerName, Time } from './form.ts';

export { MOST_COUNTED, QUEUE_ORDERS, QUEUE_STATES };
/** The most rows of a page. */
export const MOST_ROWS = 100;

/** The largest id that a partner can have. */
const MOST_INTEGER = 2_147_483_647;
const Score = Type.Integer({ minimum: 0, maximum: 100 });
const Amount = Type.Number({ minimum: 0 });

/** What narrows the queue; an absent part narrows nothing. Numbers come as numbers: the listener converts them. */
const FILTERS = {
  state: Type.Optional(oneOf(QUEUE_STATES)),
  partner: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_INTEGER })),
  score_from: Type.Optional(Score),
  score_to: Type.Optional(Score),
  /** The reference amount, in USD by the policy's rates (D29). */
  amount_from: Type.Optional(Amount),
  amount_to: Type.Optional(Amount),
  /** Registered so many hours ago or more. */
  age_from: Type.Optional(Type.Integer({ minimum: 0, maximum: 87_600 })),
  /** Due within so many hours, or overdue; 0: overdue. */
  due_within: Type.Optional(Type.Integer({ minimum: 0, maximum: 87_600 })),
  /** Those that the asking operator holds, or nobody does. */
  claim: Type.Optional(oneOf(['mine', 'free'])),
};

export const QueueFilter = form(FILTERS);

export const QueueQuery = form({
  ...FILTERS,
  order: Type.Optional(oneOf(QUEUE_ORDERS)),
  /** Opaque: the `next` of the page before. */
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_ROWS })),
});

/** Who holds an application, until when. */
export const Claim = form({ by: By, until: Time });

export const QueueItem = form({
  id: Type.Integer(),
  /** The number of its last event, as the `ETag` of the application has it: a decision on many is made on it. */
  last_event: Type.String(),
  partner: PartnerName,
  state: oneOf(QUEUE_STATES),
  /** null: the stored data cannot be read. */
  score: orNull(Type.Integer()),
  currency: orNull(Type.String()),
  debt_amount: orNull(Type.Number()),
  /** The debt in USD by the policy's rates (D29), for bands and order. */
  reference_amount: orNull(Type.Number()),
  created_at: Time,
  /** When the decision is due; null while the application is pended: the clock is stopped. */
  due_at: orNull(Time),
  claim: orNull(Claim),
});

export const Queue = form({
  items: Type.Array(QueueItem),
  /** The cursor of the next page; null: this is the last one. */
  next: orNull(Type.String()),
  /** How many fit the filters; 10,000 stands for 10,000 and more. */
  count: Type.Integer({ maximum: MOST_COUNTED }),
});

/** The partners by which the queue can be narrowed, by name. */
export const QueuePartners = form({ partners: Type.Array(PartnerName) });

/** `claim-next` takes the next free one in the order, within the filters. */
export const ClaimNext = form({ ...FILTERS, order: Type.Optional(oneOf(QUEUE_ORDERS)) });

/** A body without fields, and such a reply. */
export const Nothing = form({});

/** null: nothing is free. */
export const Claimed = form({ id: orNull(Type.Integer()), claim: orNull(Claim) });

/** A selection freezes what matches the filters at this moment, for a decision on all of them. */
export const Selection = form({ selection: Type.String(), count: Type.Integer(), ends_at: Time });

export type QueueReply = Static<typeof Queue>;
export type QueuePartnersReply = Static<typeof QueuePartners>;
export type QueueItemReply = Static<typeof QueueItem>;
export type QueueFilterQuery = Static<typeof QueueFilter>;
export type ClaimReply = Static<typeof Claim>;
export type ClaimedReply = Static<typeof Claimed>;
