/**
 * Applies status events of the channel to messages and replies (docs/messages.md, "What moves a message").
 * `rules/settle.ts` has the rule, and the files in `sql` write the tables.
 */

import type { BlindIndex, MessageId } from '../../../domain/application/ids.ts';
import { parseCallback } from '../../../domain/message/outgoing-message.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import { parseReplyCallback, type ReplyId } from '../../../domain/message/reply.ts';
import { templateNames } from '../../../domain/partner/brand.ts';
import {
  againAfterConflict,
  type Database,
  inTransaction,
  type Transaction,
} from '../../../ground/postgres/database.ts';
import { replyFate } from '../rules/reply-fate.ts';
import { type IndexedStatus, type MessageMove, namedAttempt, settle } from '../rules/settle.ts';
import { type Settlement, settleMessages } from '../sql/channel-events.ts';
import { type KnownUser, learnUsers } from '../sql/channel-users.ts';
import { type FailedMessage, tellFailed } from '../sql/failed-messages.ts';
import {
  earliest,
  type HeldReply,
  holdSentReplies,
  type ReplySettlement,
  settleReplies,
} from '../sql/replies/settlement.ts';
import { applyOptOutChanges, type OptOutChange } from '../sql/suppressions.ts';
import { toldCodes } from '../sql/told-reasons.ts';

// First part: finds the message of each status event.

/**
 * Pairs events with their messages: by the channel's id, or by the callback if no message has that id yet; null: there
 * is no message. An id stays with the message that had it first. Events with a callback come first, because they may
 * tell which message an id belongs to. `idOf` gives the id of a message, `named` the id that an event names.
 */
function* matched<Held extends { readonly channelIndex: BlindIndex<'channel_message_id'> | null }, Id>(
  held: readonly Held[],
  events: readonly IndexedStatus[],
  idOf: (message: Held) => Id,
  named: (event: IndexedStatus) => Id | null,
): Generator<{ message: Held | null; event: IndexedStatus }> {
  const byId = new Map(held.map((message) => [idOf(message), message]));
  const byChannelId = new Map(held.map((message) => [message.channelIndex, message]));
  const withCallback = events.filter(({ callback }) => callback !== null);
  const without = events.filter(({ callback }) => callback === null);
  for (const event of [...withCallback, ...without]) {
    const id = named(event);
    const message = byChannelId.get(event.channelIndex) ?? (id === null ? null : byId.get(id)) ?? null;
    if (message !== null) byChannelId.set(event.channelIndex, message);
    yield { message, event };
  }
}

/** How many messages moved, how many pauses are new, and which phones opted out according to the channel. */
export interface EventEffects {
  readonly moved: number;
  readonly paused: number;
  readonly optedOut: readonly OptOutChange[];
  /** The recipients that the channel named by its own id, with the phone of the message. */
  readonly users: readonly KnownUser[];
  /** Events without a callback whose message is not known yet. */
  readonly early: readonly IndexedStatus[];
}

/** The messages that failed. The caller tells the partners at the end of its transaction. */
interface SettledStatuses extends EventEffects {
  readonly failed: readonly FailedMessage[];
}

export const NO_EFFECTS: EventEffects = { moved: 0, paused: 0, optedOut: [], users: [], early: [] };

/** Applies status events in a transaction of its own. */
export function applyStatusEvents(
  database: Database,
  events: readonly IndexedStatus[],
): Promise<EventEffects> {
  return inTransaction(database, async (session) => {
    const { failed, ...effects } = await settleStatuses(session, events);
    await tellFailed(session, failed);
    return effects;
  });
}

async function settleStatuses(
  session: Transaction,
  events: readonly IndexedStatus[],
): Promise<SettledStatuses> {
  const replies = await settleReplyEvents(session, events);
  const others = events.filter((event) => !replies.taken.has(event));
  const find = {
    messageIds: others.flatMap(({ callback }) => messageOf(callback) ?? []),
    channelIndexes: others.map(({ channelIndex }) => channelIndex),
  };
  let { moved } = replies;
  const optedOut: OptOutChange[] = [...replies.optedOut];
  const users: KnownUser[] = [...replies.users];
  const early: IndexedStatus[] = [];
  const refused = others.flatMap(({ failure, callback }) =>
    failure?.kind === 'pause_template' ? (messageOf(callback) ?? []) : [],
  );
  const told = await toldCodes(session, refused);
  const { pauses, failed } = await settleMessages(session, find, (held) => {
    const moves = new Map<MessageId, MessageMove & { messageId: MessageId }>();
    let { pauseSender } = replies;
    const pauseTemplates = new Map<string, MessageReason>();
    const named = ({ callback }: IndexedStatus) => messageOf(callback);
    for (const { message, event } of matched(held, others, ({ messageId }) => messageId, named)) {
      if (message === null) {
        if (event.callback === null) early.push(event);
        continue;
      }
      const { messageId, phoneIndex } = message;
      const { failure, at, userIndex } = event;
      if (userIndex) users.push({ userIndex, phoneIndex });
      if (failure?.kind === 'opted_out') optedOut.push({ phoneIndex, stops: true, source: 'channel', at });
      const state = moves.get(messageId) ?? message;
      const move = settle(state, event, namedAttempt(messageId, event), Math.random());
      if (move === null) continue;
      moves.set(messageId, { ...move, messageId });
      // Only an event that moves its message pauses the sender: a repeated event must not undo what an operator
      // resumed.
      if (failure?.kind === 'pause_sender') pauseSender = failure.reason;
      if (failure?.kind === 'pause_template') {
        const kind = told.has(messageId) ? 'rejected_reasons' : message.type;
        pauseTemplates.set(templateNames(message.templates)[kind], failure.reason);
      }
    }
    moved += moves.size;
    return { moves: [...moves.values()], pauseSender, pauseTemplates } satisfies Settlement;
  });
  return { moved, paused: pauses, optedOut, users, early, failed };
}

/**
 * In a transaction of its own, applies the early events that `take` takes out of their table, the recipients that they
 * name, and their opt-outs.
 */
export async function applyEarly(
  database: Database,
  take: (session: Transaction) => Promise<readonly IndexedStatus[]>,
): Promise<EventEffects> {
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      const events = await take(session);
      if (events.length === 0) return NO_EFFECTS;
      const { failed, ...effects } = await settleStatuses(session, events);
      await learnUsers(session, effects.users);
      await applyOptOutChanges(session, effects.optedOut);
      await tellFailed(session, failed);
      return { ...effects, optedOut: [], users: [] };
    }),
  );
}

function messageOf(callback: string | null): MessageId | null {
  return callback === null ? null : (parseCallback(callback)?.messageId ?? null);
}

// Second part: applies status events of replies.

/** What the events of replies did, and what the caller has to do. */
interface ReplyEffects {
  /** The events that are about replies. They are applied. */
  readonly taken: ReadonlySet<IndexedStatus>;
  readonly moved: number;
  readonly optedOut: readonly OptOutChange[];
  readonly users: readonly KnownUser[];
  /** Why the sender has to pause; null: it does not. */
  readonly pauseSender: MessageReason | null;
}

/** Applies those of the events that are about replies. Asks the store only if an event may be one. */
async function settleReplyEvents(
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
      ...reply,
      afterMs: null,
      deliveredAt: null,
      readAt: null,
      isMoved: false,
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
    // Only an event that moves its reply pauses the sender: a repeated event must not undo what an operator resumed.
    if (move !== null && failure?.kind === 'pause_sender') pauseSender = failure.reason;
  }
  const settlements = [...found.values()];
  await settleReplies(session, settlements);
  const moved = settlements.filter(({ isMoved }) => isMoved).length;
  return { taken, moved, optedOut, users, pauseSender };
}

/**
 * A reply that would go out again is cancelled if somebody has said meanwhile that the phone is not the applicant's
 * (D43).
 */
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

/** A reply names no template, so a failure about a template is one of this reply. */
function withoutTemplate(event: IndexedStatus): IndexedStatus {
  const { failure } = event;
  return failure?.kind === 'pause_template'
    ? { ...event, failure: { kind: 'give_up', reason: failure.reason } }
    : event;
}
