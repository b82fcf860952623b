/**
 * Schemas of the queue of applications in review, of claims and of selections (docs/operators.md, "The review queue").
 * Pure. A row has no personal data.
 */
import { type Static, Type } from 'typebox';
import { UNPRICED } from '../../../domain/loan/installment.ts';
import { By, form, oneOf, orNull, PartnerName, Time } from '../../../wire/operator/form.ts';
import { INCOME_SOURCES, INSTALLMENT_SOURCES } from '../rules/capacity.ts';
import { MOST_COUNTED, QUEUE_ORDERS, QUEUE_STATES } from '../rules/queue.ts';

export { MOST_COUNTED, QUEUE_ORDERS, QUEUE_STATES };
/** The most rows of a page. */
export const MOST_ROWS = 100;

/** The largest id that a partner can have. */
const MOST_INTEGER = 2_147_483_647;
const Score = Type.Integer({ minimum: 0, maximum: 100 });
const Amount = Type.Number({ minimum: 0 });

/**
 * The filters of the queue; an absent one does not narrow it. Numbers come as numbers, because the listener converts
 * them.
 */
const FILTERS = {
  /** Without it those are left out that a decision is proposed on. */
  state: Type.Optional(oneOf(QUEUE_STATES)),
  partner: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_INTEGER })),
  score_from: Type.Optional(Score),
  score_to: Type.Optional(Score),
  /** The reference amount, in USD by the policy's rates (D29). */
  amount_from: Type.Optional(Amount),
  amount_to: Type.Optional(Amount),
  /** Registered this many hours ago or more. */
  age_from: Type.Optional(Type.Integer({ minimum: 0, maximum: 87_600 })),
  /** Due within this many hours, or overdue; 0: only overdue. */
  due_within: Type.Optional(Type.Integer({ minimum: 0, maximum: 87_600 })),
  /** `mine`: those that the asking operator holds. `free`: those that nobody holds. */
  claim: Type.Optional(oneOf(['mine', 'free'])),
};

export const QueueFilter = form(FILTERS);

export const QueueQuery = form({
  ...FILTERS,
  order: Type.Optional(oneOf(QUEUE_ORDERS)),
  /** The `next` of the page before, which programs pass on as it is. */
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_ROWS })),
});

/** Who holds an application, until when. */
export const Claim = form({ by: By, until: Time });

/** What the loan takes of the income (docs/operators.md, "One application"). */
export const Capacity = form({
  /** A month; an exact decimal of the application's currency. null: `unpriced` says why. */
  installment: orNull(Type.String()),
  months: orNull(Type.Integer()),
  unpriced: orNull(oneOf(UNPRICED)),
  installment_by: oneOf(INSTALLMENT_SOURCES),
  income: orNull(Type.Number()),
  income_by: oneOf(INCOME_SOURCES),
  /** The installment by the monthly income, such as 0.2431; null: one of them is not known. */
  share: orNull(Type.Number()),
});

export const QueueItem = form({
  id: Type.Integer(),
  /** The number of its last event, as in the `ETag` of the application. A decision on many is based on it. */
  last_event: Type.String(),
  partner: PartnerName,
  state: oneOf(QUEUE_STATES),
  /** null: the stored data cannot be read. */
  score: orNull(Type.Integer()),
  currency: orNull(Type.String()),
  debt_amount: orNull(Type.Number()),
  /** The debt in USD by the policy's rates (D29), for bands and order. */
  reference_amount: orNull(Type.Number()),
  /** null: the application is deleted. */
  capacity: orNull(Capacity),
  /** How many documents have arrived, by what became of them. */
  documents: form({ accepted: Type.Integer(), received: Type.Integer(), rejected: Type.Integer() }),
  created_at: Time,
  /** When the decision is due; null while the application is pended, because its clock is stopped. */
  due_at: orNull(Time),
  claim: orNull(Claim),
});

export const Queue = form({
  items: Type.Array(QueueItem),
  /** The cursor of the next page; null: this is the last one. */
  next: orNull(Type.String()),
  /** How many fit the filters. 10,000 stands for 10,000 and more. */
  count: Type.Integer({ maximum: MOST_COUNTED }),
});

/** The partners by which the queue can be narrowed, by name, each with the currency of its country. */
export const QueuePartners = form({
  partners: Type.Array(form({ id: Type.Integer(), name: Type.String(), currency: Type.String() })),
});

/** `claim-next` claims the next free application in the order, within the filters. */
export const ClaimNext = form({ ...FILTERS, order: Type.Optional(oneOf(QUEUE_ORDERS)) });

/** A body or a reply without fields. */
export const Nothing = form({});

/** The claimed application; null: nothing is free. */
export const Claimed = form({ id: orNull(Type.Integer()), claim: orNull(Claim) });

/** A selection keeps what matches the filters at this moment, for one decision on all of it. */
export const Selection = form({ selection: Type.String(), count: Type.Integer(), ends_at: Time });

export type QueueReply = Static<typeof Queue>;
export type QueuePartnersReply = Static<typeof QueuePartners>;
export type QueueItemReply = Static<typeof QueueItem>;
export type QueueFilterQuery = Static<typeof QueueFilter>;
export type ClaimedReply = Static<typeof Claimed>;
