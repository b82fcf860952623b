/** Items of the queue and claims in the form of replies. Pure. `routes/queue-forms.ts` has the form. */
import { optionalTime, withOffset } from '../../../ground/base/clock.ts';
import type { StoredClaim, StoredItem } from '../uses/queue.ts';
import type { ClaimReply, QueueItemReply } from './queue-forms.ts';

/** A row of the queue. */
export function itemJson(item: StoredItem): QueueItemReply {
  const { id, lastEvent, partner, state, score, currency } = item;
  return {
    id,
    last_event: lastEvent,
    partner: { ...partner },
    state,
    score,
    currency,
    debt_amount: item.debtAmount,
    reference_amount: item.referenceAmount,
    created_at: withOffset(item.createdAt),
    due_at: optionalTime(item.dueAt),
    claim: item.claim && claimJson(item.claim),
  };
}

/** Who holds an application, until when. */
export function claimJson({ by, until }: StoredClaim): ClaimReply {
  return { by: { ...by }, until: withOffset(until) };
}
