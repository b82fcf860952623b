/** What goes out of the outbox of a store, for tests that turn the delivery themselves. */
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { OutgoingMessage } from '../../src/domain/message/outgoing-message.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { readMessagesOf } from '../../src/subjects/messages/sql/messages.ts';
import type { testDatabase } from './database.ts';
import { deliveryContext } from './delivery-context.ts';
import { untilDone } from './until-done.ts';

/** A channel that takes every message, as `wamid.out.ID`, and what it took. */
export function outboxOf(store: Awaited<ReturnType<typeof testDatabase>>) {
  const sent: OutgoingMessage[] = [];
  const context = deliveryContext(store, {
    send: async (message) => {
      sent.push(message);
      return { kind: 'accepted', channelMessageId: `wamid.out.${message.messageId}` };
    },
  } as Parameters<typeof deliveryContext>[1]);
  return {
    /** Sends everything that is due. */
    async sendAll(): Promise<void> {
      await untilDone(async () => {
        const { claimed, concluded } = await deliverDue(context, new AbortController().signal);
        await concluded;
        return claimed === 0;
      });
    },
    /** The messages of an application that went out. */
    sentTo: ({ id }: { id: number }) => sent.filter(({ applicationId }) => applicationId === id),
    /** `type status` or `type status (reason)` of each message of an application, oldest first. */
    async outbox({ id }: { id: number }): Promise<string[]> {
      const found = await readMessagesOf(store.database, toApplicationId(id));
      return found
        .map(({ type, status, reason }) => `${type} ${status}${reason === null ? '' : ` (${reason})`}`)
        .toReversed();
    },
  };
}
