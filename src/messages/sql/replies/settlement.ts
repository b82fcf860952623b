/** The statements that apply a channel's events about replies. */
import type { BlindIndex } from '../../../applications/rules/ids.ts';
import type { Transaction } from '../../../postgres/database.ts';
import { fromBigint, toBigint } from '../../../seal/blind-indexes.ts';
import type { MessageStatus } from '../../rules/notify.ts';
import type { MessageReason } from '../../rules/reasons.ts';
import { type ReplyId, toReplyId } from '../../rules/reply.ts';
import type { MessageState } from '../../rules/settle.ts';

/** A reply whose row this transaction has locked. */
export interface HeldReply extends MessageState {
  readonly replyId: ReplyId;
  readonly phoneIndex: BlindIndex<'phone'>;
}

/** What events make of a held reply. */
export interface ReplySettlement {
  readonly replyId: ReplyId;
  readonly status: MessageStatus;
  readonly reason: MessageReason | null;
  readonly channelIndex: BlindIndex<'channel_message_id'> | null;
  /** Until a reply that is queued again is due; null: the reply stays as due as it was. */
  readonly afterMs: number | null;
  /** By the channel's clock; null: these events do not tell. */
  readonly deliveredAt: Date | null;
  readonly readAt: Date | null;
}

const HOLD = `
  SELECT id, status, attempts, channel_message_id, phone_index, reason FROM replies
  WHERE id = ANY ($1::bigint[]) OR channel_message_id = ANY ($2::bigint[])
  ORDER BY id FOR NO KEY UPDATE`;

interface HeldRow {
  id: string;
  status: MessageStatus;
  attempts: number;
  channel_message_id: string | null;
  phone_index: string;
  reason: MessageReason | null;
}

/** Locks the replies with these ids or ids of the channel. */
export async function holdSentReplies(
  session: Transaction,
  replyIds: readonly ReplyId[],
  channelIndexes: readonly BlindIndex<'channel_message_id'>[],
): Promise<(HeldReply & { readonly reason: MessageReason | null })[]> {
  const { rows } = await session.query<HeldRow>(HOLD, [replyIds, channelIndexes.map(toBigint)]);
  return rows.map((row) => ({
    replyId: toReplyId(row.id),
    status: row.status,
    attempts: row.attempts,
    // No operator queues a reply again.
    tries: row.attempts,
    channelIndex: row.channel_message_id === null ? null : fromBigint(row.channel_message_id),
    phoneIndex: fromBigint(row.phone_index),
    reason: row.reason,
  }));
}

const SETTLE = `
  UPDATE replies r SET status = g.status, reason = g.reason, channel_message_id = g.channel_message_id,
    changed_at = now(),
    due_at = least(coalesce(now() + g.after_ms * interval '1 millisecond', r.due_at), greatest(r.window_until, now())),
    sent_at = coalesce(r.sent_at, CASE WHEN g.status IN ('accepted', 'sent', 'delivered', 'read') THEN now() END),
    delivered_at = least(r.delivered_at, g.delivered_at), read_at = least(r.read_at, g.read_at)
  FROM unnest($1::bigint[], $2::message_status[], $3::text[], $4::bigint[], $5::float8[], $6::timestamptz[],
    $7::timestamptz[]) AS g(id, status, reason, channel_message_id, after_ms, delivered_at, read_at)
  WHERE r.id = g.id`;

/** Writes what events make of replies that this transaction holds. */
export async function settleReplies(
  session: Transaction,
  settlements: readonly ReplySettlement[],
): Promise<void> {
  if (settlements.length === 0) return;
  await session.query(SETTLE, [
    settlements.map(({ replyId }) => replyId),
    settlements.map(({ status }) => status),
    settlements.map(({ reason }) => reason),
    settlements.map(({ channelIndex }) => channelIndex && toBigint(channelIndex)),
    settlements.map(({ afterMs }) => afterMs),
    settlements.map(({ deliveredAt }) => deliveredAt),
    settlements.map(({ readAt }) => readAt),
  ]);
}
