/**
 * The state machine of a message, and of its moves those that status events of the channel make (`settle`). The table
 * has every move, who makes it, and the code that runs it; docs/messages.md says when.
 *
 *     -                                   -> queued              registration: queue_first_messages
 *     -                                   -> queued              review: queue_message_after_review
 *     -                                   -> queued              worker: queue_fitting_messages
 *     queued                              -> sending             worker: begin_sending; this is an attempt
 *     queued                              -> queued, cancelled   worker: begin_sending, `defer`
 *     queued                              -> failed              worker: `defer`, `setAside`
 *     queued                              -> cancelled           review: queue_message_after_review
 *     sending, uncertain                  -> accepted, queued,
 *                                            failed, uncertain   worker: `moveAfter`, record_send_results
 *     sending                             -> uncertain           upkeep: settle_leases
 *     queued, sending, uncertain, accepted -> sent               channel's event: `settle`
 *     queued, sending, uncertain, accepted,
 *     sent                                -> failed, queued      channel's event: `settle`, `moveAfter`
 *     any but read                        -> delivered, read     channel's event: `settle`
 *     failed, uncertain                   -> queued              operator: `CHANGE.retry`
 *     queued, uncertain                   -> cancelled           operator: `CHANGE.cancel`
 *
 * `settle` is pure. Events may come in any order and any number of times, and the message ends the same.
 */

import type { BlindIndex, MessageId } from '../../../domain/application/ids.ts';
import type { StatusEvent } from '../../../domain/message/channel-event.ts';
import type { MessageStatus } from '../../../domain/message/notify.ts';
import { parseCallback } from '../../../domain/message/outgoing-message.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import { moveAfter } from './after-send.ts';

/**
 * The rank of each status. Events come in any order, twice, early and late, and the highest rank wins, so that any
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

/** A status event with the blind index of the message's channel id in place of the id. */
export interface IndexedStatus extends Omit<StatusEvent, 'channelMessageId' | 'recipientUserId'> {
  readonly channelIndex: BlindIndex<'channel_message_id'>;
  /** The recipient; absent if the channel does not tell. */
  readonly userIndex?: BlindIndex<'channel_user'> | null;
}

export interface MessageState {
  readonly status: MessageStatus;
  /** The number of sends so far. The last one is the current one. */
  readonly attempts: number;
  /** The number of sends since an operator last queued the message again; of all sends if that never happened. */
  readonly tries: number;
  /** Blind index of the channel's own id of the message; null if that id is not known. */
  readonly channelIndex: BlindIndex<'channel_message_id'> | null;
}

/** `afterMs`: milliseconds until a message that is queued again is due. */
export interface MessageMove extends MessageState {
  readonly reason: MessageReason | null;
  readonly afterMs: number;
}

/**
 * What an event makes of its message; null if the event changes nothing.
 *
 * - `delivered` and `read` are true whatever was believed before: they count for any attempt, for a message that
 *   waits to be sent again (it no longer waits) and for a cancelled one.
 * - `sent` and `failed` count for the current attempt only, and not for a cancelled message, which must not go out
 *   again.
 * - A queued message that has the event's id already failed in that attempt, so a late or repeated event of that
 *   attempt changes nothing. A queued message without that id had an answer that was taken for a refusal: the event
 *   corrects that.
 *
 * `named` is the attempt that the event's callback names; null if the event was found by its id, which belongs to
 * the last attempt. `random` is that of `backoffMs`.
 */
export function settle(
  message: MessageState,
  event: IndexedStatus,
  named: number | null,
  random: number,
): MessageMove | null {
  const { attempts, tries } = message;
  if (PROGRESS[event.status] <= PROGRESS[message.status]) return null;
  const current = (named ?? attempts) === attempts;
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

/** The attempt of the message that the event's callback names; null: the callback names no attempt of this message. */
export function namedAttempt(messageId: MessageId, { callback }: IndexedStatus): number | null {
  const named = callback === null ? null : parseCallback(callback);
  return named?.messageId === messageId ? named.attempt : null;
}
