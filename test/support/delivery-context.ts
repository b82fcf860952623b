/** The context of a turn of delivery, for tests about other things. */
import assert from 'node:assert/strict';
import type { TemplateChannel } from '../../src/domain/message/channel.ts';
import { composeMessage, type MessageSource } from '../../src/domain/message/compose-message.ts';
import { ChannelNotices } from '../../src/subjects/messages/delivery/channel-notices.ts';
import { SendResultLog } from '../../src/subjects/messages/delivery/send-result-log.ts';
import type { DeliveryContext } from '../../src/subjects/messages/delivery/turn.ts';
import type { Ready } from '../../src/subjects/messages/sql/begin.ts';
import type { Claimed } from '../../src/subjects/messages/sql/claim.ts';
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
    results: new SendResultLog(database, clock, TRY_FOR_MS, assert.fail, () => {}),
    notices: new ChannelNotices(database, clock, TRY_FOR_MS, () => {}, assert.fail),
    onFault: () => assert.fail('no message has a fault'),
    ...changes,
  };
}

/** Claimed messages as a turn begins them. None of their applicants may be erased. */
export function readyOf({ messages }: Claimed): Ready[] {
  return messages.map((message) => ({
    message: composeMessage(message as typeof message & MessageSource),
    partnerId: message.partnerId,
    tries: message.tries,
  }));
}
