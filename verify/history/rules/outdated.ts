/** A message that goes out fits the last review that was acknowledged before its send began. */
import type { MessageType } from '../../../src/domain/message/notify.ts';
import type { Found, History, Review, Send } from '../history.ts';
import { applicationOf, type Lookup } from '../lookup.ts';

/** What may go out after a review. */
const FITTING = { approve: ['approved'], reject: ['rejected'], disburse: [] } as const satisfies Readonly<
  Record<Review['action'], readonly MessageType[]>
>;

export function checkOutdated({ sends, store }: History, lookup: Lookup): Found[] {
  const types = new Map(store.messages.map(({ messageId, type }) => [messageId, type]));
  return sends.flatMap((send) => {
    const id = applicationOf(send.messageId);
    const review = lastBefore(send, lookup.reviewsOf(id));
    const type = types.get(send.messageId);
    if (review === null || type === undefined || FITTING[review.action].some((fitting) => fitting === type))
      return [];
    const partnerId = lookup.stored(id)?.partnerId ?? null;
    return [{ partnerId, text: `message ${send.messageId} told ${type} after the action ${review.action}` }];
  });
}

/** The last review that was known before the send began; null where none was, or where the last one may be another. */
function lastBefore({ messageId, atMs }: Send, reviews: readonly Review[]): Review | null {
  const begun = reviews.filter(({ fromMs, end }) => fromMs < atMs && end !== 'refused');
  const last = begun.toSorted((one, other) => one.toMs - other.toMs).at(-1);
  if (last?.seen == null || last.seen.atMs >= atMs || last.seen.messageIds.includes(messageId)) return null;
  const isAlone = begun.every((one) => one === last || one.toMs <= last.fromMs);
  return isAlone ? last : null;
}
