/** The context of a turn of delivery, for tests about other things. */
import assert from 'node:assert/strict';
import type { TemplateChannel } from '../../src/domain/message/channel.ts';
import { composeMessage, type MessageSource } from '../../src/domain/message/compose-message.ts';
import { inTransaction, type Transaction } from '../../src/ground/postgres/database.ts';
import { channelNotices, messageResults } from '../../src/subjects/messages/delivery/records.ts';
import type { DeliveryContext } from '../../src/subjects/messages/delivery/turn.ts';
import type { Ready } from '../../src/subjects/messages/sql/begin.ts';
import { type Claimed, claimMessages, readClaimed } from '../../src/subjects/messages/sql/claim.ts';
import { sessionsOf, type TestStore } from './database.ts';

/** A busy machine may be slow to record; a store that is away for ever still fails its test. */
const TRY_FOR_MS = 60_000;

/**
 * No limits, no contact windows. A dropped record, a lost notice of the channel and a message with a fault fail the
 * test; pauses and breaks of the channel are ignored.
 */
export function deliveryContext(
  { vault, clock, ...store }: TestStore,
  channel: TemplateChannel,
  changes: Partial<DeliveryContext> = {},
): DeliveryContext {
  const database = sessionsOf(store);
  return {
    database,
    vault,
    clock,
    channel,
    limits: {
      messagesPerSecond: null,
      pairMs: 0,
      recipientsPerDay: null,
      messagesPerPhone: null,
      rejectionsPerPhone: null,
    },
    windows: new Map(),
    results: messageResults(keeping({ database, clock })),
    notices: channelNotices(keeping({ database, clock })),
    onFault: () => assert.fail('no message has a fault'),
    ...changes,
  };
}

/** How what the channel said is stored: what is lost fails the test, and nobody hears of pauses and breaks. */
export function keeping({ database, clock }: Pick<DeliveryContext, 'database' | 'clock'>) {
  const nothing = () => {};
  return {
    ...{ database, clock, keepTryingMs: TRY_FOR_MS },
    ...{ onLost: assert.fail as () => void, onHealth: nothing, onPause: nothing },
  };
}

/** Claims messages and works on them, as a turn does, in one transaction; null: none is due. */
export function claimDue<T>(
  context: Pick<DeliveryContext, 'database' | 'vault' | 'clock'>,
  limit: number,
  messagesPerSecond: number | null,
  work: (claimed: Claimed, claim: Transaction) => Promise<T>,
): Promise<T | null> {
  return inTransaction(context.database, async (claim) => {
    const [row, ...others] = await claimMessages(claim, context.vault, limit, messagesPerSecond);
    return row === undefined ? null : work(await readClaimed(context, claim, [row, ...others]), claim);
  });
}

/** Claimed messages as a turn begins them. None of their applicants may be erased. */
export function readyOf({ messages }: Claimed): Ready[] {
  return messages.map((message) => ({
    message: composeMessage(message as typeof message & MessageSource),
    partnerId: message.partnerId,
    tries: message.tries,
    dayLimit: null,
  }));
}
