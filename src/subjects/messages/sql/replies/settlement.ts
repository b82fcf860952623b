/** The statements that apply status events to replies (docs/messages.md, "Replies"). Locks and writes `replies`. */
import type { BlindIndex } from '../../../../domain/application/ids.ts';
import type { MessageStatus } from '../../../../domain/message/notify.ts';
import type { MessageReason } from '../../../../domain/message/reasons.ts';
import type { ReplyId } from '../../../../domain/message/reply.ts';
import type { Transaction } from '../../../../ground/postgres/database.ts';
import { readIndex, toBigint } from '../../../../seal/blind-indexes.ts';
import type { MessageState } from '../../rules/settle.ts';

/** A reply whose row this transaction has locked. */
export interface HeldReply extends MessageState {
  readonly replyId: ReplyId;
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly reason: MessageReason | null;
  /** Since it went out, somebody has said that the phone is not the applicant's (D43). */
  readonly neverAgain: boolean;
  readonly times: ReplyTimes;
}

interface ReplyTimes {
  readonly windowUntil: Date;
  readonly dueAt: Date;
  readonly sentAt: Date | null;
  readonly deliveredAt: Date | null;
  readonly readAt: Date | null;
  /** The database's time of this reading (D39). */
  readonly now: Date;
}

/** What events make of a held reply. */
export interface ReplySettlement {
  readonly replyId: ReplyId;
  readonly status: MessageStatus;
  readonly reason: MessageReason | null;
  readonly channelIndex: BlindIndex<'channel_message_id'> | null;
  /** The milliseconds until a reply that is queued again is due; null: its due time stays as it was. */
  readonly afterMs: number | null;
  /**
   * When it was delivered: by the channel's clock, as the times of persons' messages are. Null: the channel has not
   * told.
   */
  readonly deliveredAt: Date | null;
  readonly readAt: Date | null;
  readonly times: ReplyTimes;
}

const HOLD = `
  SELECT id AS "replyId", status, attempts, ${readIndex('channel_message_id')} AS "channelIndex",
    ${readIndex('phone_index')} AS "phoneIndex", reason, never_again AS "neverAgain", window_until AS "windowUntil",
    due_at AS "dueAt", sent_at AS "sentAt", delivered_at AS "deliveredAt", read_at AS "readAt", now() AS now
  FROM replies
  WHERE id = ANY ($1::bigint[]) OR channel_message_id = ANY ($2::bigint[])
  ORDER BY id FOR NO KEY UPDATE`;

type HeldRow = Omit<HeldReply, 'tries' | 'times'> & ReplyTimes;

/** Locks the replies with these ids or ids of the channel. */
export async function holdSentReplies(
  session: Transaction,
  replyIds: readonly ReplyId[],
  channelIndexes: readonly BlindIndex<'channel_message_id'>[],
): Promise<HeldReply[]> {
  const { rows } = await session.query<HeldRow>(HOLD, [replyIds, channelIndexes.map(toBigint)]);
  return rows.map(({ windowUntil, dueAt, sentAt, deliveredAt, readAt, now, ...row }) => ({
    ...row,
    // If an operator sends an uncertain reply again, it gets no further tries.
    tries: row.attempts,
    times: { windowUntil, dueAt, sentAt, deliveredAt, readAt, now },
  }));
}

/** The times are computed beforehand, because on a cluster an UPDATE computes none. */
const SETTLE = `
  UPDATE replies r SET status = g.status, reason = g.reason, channel_message_id = g.channel_message_id,
    changed_at = now(), due_at = g.due_at, sent_at = g.sent_at, delivered_at = g.delivered_at, read_at = g.read_at
  FROM unnest($1::bigint[], $2::message_status[], $3::text[], $4::bigint[], $5::timestamptz[], $6::timestamptz[],
    $7::timestamptz[], $8::timestamptz[])
    AS g(id, status, reason, channel_message_id, due_at, sent_at, delivered_at, read_at)
  WHERE r.id = g.id`;
const AT_CHANNEL: readonly MessageStatus[] = ['accepted', 'sent', 'delivered', 'read'];

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
    settlements.map(dueAtOf),
    settlements.map(({ status, times }) => times.sentAt ?? (AT_CHANNEL.includes(status) ? times.now : null)),
    settlements.map(({ deliveredAt, times }) => earliest(times.deliveredAt, deliveredAt)),
    settlements.map(({ readAt, times }) => earliest(times.readAt, readAt)),
  ]);
}

/** When the reply is due. A wait ends with the channel's window at the latest. */
function dueAtOf({ afterMs, times: { windowUntil, dueAt, now } }: ReplySettlement): Date {
  if (afterMs === null) return dueAt;
  return new Date(Math.min(now.getTime() + afterMs, Math.max(windowUntil.getTime(), now.getTime())));
}

/** The earlier of two times; null: neither is known. */
export function earliest(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}
