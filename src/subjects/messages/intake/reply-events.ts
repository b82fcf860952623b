/** Applies status events of replies. */

import type { MessageReason } from '../../../domain/message/reasons.ts';
import { parseReplyCallback, type ReplyId } from '../../../domain/message/reply.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import { replyFate } from '../rules/reply-fate.ts';
import { type IndexedStatus, settle } from '../rules/settle.ts';
import type { KnownUser } from '../sql/channel-users.ts';
import {
  earliest,
  type HeldReply,
  holdSentReplies,
  type ReplySettlement,
  settleReplies,
} from '../sql/replies/settlement.ts';
import type { OptOutChange } from '../sql/suppressions.ts';
import { matched } from './matched-events.ts';

/** What the events of replies did, and what they ask of the caller. */
interface ReplyEffects {
  /** Events that are about replies: they are applied. */
  readonly taken: ReadonlySet<IndexedStatus>;
  readonly moved: number;
  readonly optedOut: readonly OptOutChange[];
  readonly users: readonly KnownUser[];
  /** Why the sender has to pause; null: it need not. */
  readonly pauseSender: MessageReason | null;
}

/** Applies those of the events that are about replies. Asks the store only where an event may be. */
export async function settleReplyEvents(
  session: Transaction,
  events: readonly IndexedStatus[],
): Promise<ReplyEffects> {
  const named = events.filter(({ callback }) => callback === null || parseReplyCallback(callback) !== null);
  const taken = new Set(named.filter(({ callback }) => callback !== null));
  const optedOut: OptOutChange[] = [];
  const users: KnownUser[] = [];
  let pauseSender: MessageReason | null = null;
  const found = new Map<
    ReplyId,
    ReplySettlement & { readonly attempts: number; readonly isMoved: boolean }
  >();
  const held =
    named.length === 0
      ? []
      : await holdSentReplies(
          session,
          named.flatMap((event) => replyOf(event)?.replyId ?? []),
          named.map(({ channelIndex }) => channelIndex),
        );
  const idOf = (event: IndexedStatus) => replyOf(event)?.replyId ?? null;
  for (const { message: reply, event } of matched(held, named, ({ replyId }) => replyId, idOf)) {
    if (reply === null) continue;
    taken.add(event);
    const { replyId, phoneIndex, attempts } = reply;
    const { failure, status, at, userIndex } = event;
    if (userIndex) users.push({ userIndex, phoneIndex });
    if (failure?.kind === 'opted_out') optedOut.push({ phoneIndex, stops: true, source: 'channel', at });
    const before = found.get(replyId) ?? {
      ...{ ...reply, afterMs: null, deliveredAt: null, readAt: null, isMoved: false },
    };
    const callback = replyOf(event);
    const attempt = callback?.replyId === replyId ? callback.attempt : null;
    const move = settle(
      { ...before, attempts, tries: attempts },
      withoutTemplate(event),
      attempt,
      Math.random(),
    );
    found.set(replyId, {
      ...before,
      ...(move && unlessWrongPerson(reply, replyFate(move))),
      deliveredAt: status === 'delivered' ? earliest(before.deliveredAt, at) : before.deliveredAt,
      readAt: status === 'read' ? earliest(before.readAt, at) : before.readAt,
      isMoved: before.isMoved || move !== null,
    });
    // Only an event that moves its reply pauses: a repeated event must not undo what an operator resumed.
    if (move !== null && failure?.kind === 'pause_sender') pauseSender = failure.reason;
  }
  const settlements = [...found.values()];
  await settleReplies(session, settlements);
  const moved = settlements.filter(({ isMoved }) => isMoved).length;
  return { taken, moved, optedOut, users, pauseSender };
}

/** What would go out again does not, where somebody said meanwhile that the phone is not the applicant's (D43). */
function unlessWrongPerson(
  { neverAgain }: HeldReply,
  fate: ReturnType<typeof replyFate>,
): ReturnType<typeof replyFate> {
  return fate.status === 'queued' && neverAgain
    ? { ...fate, status: 'cancelled', reason: 'wrong_person' }
    : fate;
}

function replyOf({ callback }: IndexedStatus) {
  return callback === null ? null : parseReplyCallback(callback);
}

/** No template is named in a reply, so a failure about a template is one of this reply. */
function withoutTemplate(event: IndexedStatus): IndexedStatus {
  const { failure } = event;
  return failure?.kind === 'pause_template'
    ? { ...event, failure: { kind: 'give_up', reason: failure.reason } }
    : event;
}
