/** The channel accepts a message at most once, and the store knows of it. */
import type { MessageStatus } from '../../../src/domain/message/notify.ts';
import type { Found, History } from '../history.ts';
import { applicationOf, type Lookup } from '../lookup.ts';

const WENT_OUT: readonly MessageStatus[] = ['accepted', 'sent', 'delivered', 'read'];

export function checkSends({ sends, store }: History, lookup: Lookup): Found[] {
  const reached = new Map<string, number>();
  for (const { messageId, isFailed } of sends) {
    reached.set(messageId, (reached.get(messageId) ?? 0) + (isFailed ? 0 : 1));
  }
  const found: Found[] = [];
  const note = (messageId: string, text: string) => {
    const partnerId = lookup.stored(applicationOf(messageId))?.partnerId ?? null;
    found.push({ partnerId, text: `message ${messageId} ${text}` });
  };
  const stored = new Set(store.messages.map(({ messageId }) => messageId));
  for (const [messageId, count] of reached) {
    if (count > 1) note(messageId, `went out ${count} times`);
    if (!stored.has(messageId)) note(messageId, 'went to the channel, and is not stored');
  }
  for (const { messageId, status } of store.messages) {
    const count = reached.get(messageId) ?? 0;
    const isOpen = status === 'queued' || status === 'sending';
    if (isOpen) note(messageId, `is ${status} for ever`);
    else if (WENT_OUT.includes(status) && count === 0) note(messageId, `is ${status}, and did not go out`);
    else if ((status === 'cancelled' || status === 'failed') && count > 0) {
      note(messageId, `is ${status}, and went out`);
    }
  }
  return found;
}
