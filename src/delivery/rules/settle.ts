/** How a status event of the channel moves its message. Pure; events may come in any order and any number. */

import type { ApplicationId, BlindIndex } from '../../domain/application/ids.ts';
import type { StatusEvent } from '../../domain/message/channel-event.ts';
import type { MessageStatus } from '../../domain/message/notify.ts';
import { parseCallback } from '../../domain/message/outgoing-message.ts';
import { moveAfter } from './after-send.ts';

/**
 * How far along each status is. Events come shuffled, doubled, early and late: the highest wins, so that any
 * order ends the same. A message that was delivered did not fail, whatever an earlier event says.
 */
export const PROGRESS: Readonly<Record<MessageStatus, number>> = {
  queued: 0,
  sending: 0,
  uncertain: 0,
  cancelled: 0,
  accepted: 1,
  sent: 2,
  failed: 3,
  delivered: 4,
  read: 5,
};

/** A status event that has the blind index of the channel's id of the message instead of the id. */
export interface IndexedStatus extends Omit<StatusEvent, 'channelMessageId'> {
  readonly channelIndex: BlindIndex<'channel_message_id'>;
}

export interface MessageState {
  readonly status: MessageStatus;
  /** So far; the last one is the current one. */
  readonly attempts: number;
  /** Those since an operator queued it again, or all. */
  readonly tries: number;
  /** Of the channel's own id of the message; null where nobody knows that id. */
  readonly channelIndex: BlindIndex<'channel_message_id'> | null;
}

/** `afterMs` is when a message that is queued again is due. */
export interface MessageMove extends MessageState {
  readonly reason: string | null;
  readonly afterMs: number;
}

/**
 * What a message becomes by an event of it; null where the event changes nothing.
 *
 * - `delivered` and `read` are the truth whatever was thought: they count for any attempt, for a message that
 *   waits to be sent again (it is not) and for a cancelled one.
 * - `sent` and `failed` count for the current attempt only, and not for a cancelled message, which must not go
 *   out again.
 * - A message that is queued with the event's own id failed in that attempt already, so that what comes late or
 *   twice of it finds nothing to do. Queued without it, the channel's answer was taken for a refusal: the event
 *   knows better.
 *
 * `random` is that of `backoffMs`.
 */
export function settle(
  applicationId: ApplicationId,
  message: MessageState,
  event: IndexedStatus,
  random: number,
): MessageMove | null {
  const { attempts, tries } = message;
  if (PROGRESS[event.status] <= PROGRESS[message.status]) return null;
  const current = attemptOf(applicationId, event, attempts) === attempts;
  const channelIndex = current ? event.channelIndex : message.channelIndex;
  if (event.status === 'delivered' || event.status === 'read') {
    return { status: event.status, attempts, tries, channelIndex, reason: null, afterMs: 0 };
  }
  const failedAlready = message.status === 'queued' && message.channelIndex === event.channelIndex;
  if (!current || failedAlready || message.status === 'cancelled') return null;
  if (event.failure === null) {
    return { status: event.status, attempts, tries, channelIndex, reason: null, afterMs: 0 };
  }
  const { status, reason, afterMs } = moveAfter(event.failure, tries, random);
  return { status, attempts, tries, channelIndex, reason, afterMs };
}

/** Without a callback of this application the event was found by its id, which is that of the last attempt. */
function attemptOf(applicationId: ApplicationId, { callback }: IndexedStatus, last: number): number {
  const named = callback === null ? null : parseCallback(callback);
  return named?.applicationId === applicationId ? named.attempt : last;
}
