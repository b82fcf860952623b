/** Replies: queued in the transaction of a turn, and found again (`sql/functions/messages/replies.sql`). */
import { type ApplicationId, type BlindIndex, toApplicationId } from '../../../domain/application/ids.ts';
import type { MessageStatus } from '../../../domain/message/notify.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import { type ReplyContent, type ReplyId, toReplyId } from '../../../domain/message/reply.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { Bell } from '../../../ground/base/bell.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { fromBigint, toBigint } from '../../../seal/blind-indexes.ts';
import type { Vault } from '../../../seal/vault.ts';

/** A reply to queue. */
export interface QueuedReply {
  readonly applicationId: ApplicationId;
  /** A conversation numbers its turns upwards; a turn has one reply for ever. */
  readonly turn: number;
  readonly partnerId: PartnerId;
  readonly phoneIndex: BlindIndex<'phone'>;
  /** As `sealReply` makes it. */
  readonly content: Buffer;
  /** The channel takes the reply until then. */
  readonly windowUntil: Date;
}

/** Rings where a transaction with replies has committed, so that this process sends them at once. */
export const REPLY_BELL = new Bell();

/** Seals the content of a reply. */
export function sealReply(
  vault: Vault,
  { applicationId, turn }: Pick<QueuedReply, 'applicationId' | 'turn'>,
  content: ReplyContent,
): Buffer {
  return vault.seal(JSON.stringify(content), replyIdentity(applicationId, turn));
}

/** The identity that a reply is sealed under. */
export function replyIdentity(applicationId: ApplicationId | string, turn: number | string): string {
  return `reply:${applicationId}:${turn}`;
}

/** Sorted, so that two transactions do not wait for each other in a circle. A retired data key seals nothing more. */
const QUEUE = `
  INSERT INTO replies (application_id, turn, partner_id, phone_index, content, window_until, due_at)
  SELECT g.* , clock_timestamp()
  FROM unnest($1::bigint[], $2::integer[], $3::integer[], $4::bigint[], $5::bytea[], $6::timestamptz[])
    AS g(application_id, turn, partner_id, phone_index, content, window_until)
  WHERE may_seal(get_byte(g.content, 0)) ORDER BY g.application_id, g.turn
  ON CONFLICT (application_id, turn) DO NOTHING`;
const ARE_QUEUED = `
  SELECT count(*)::integer AS count FROM replies r
  JOIN unnest($1::bigint[], $2::integer[]) AS g(application_id, turn)
    ON r.application_id = g.application_id AND r.turn = g.turn`;

/**
 * Queues replies; a turn that has a reply keeps it. After the commit, ring `REPLY_BELL`. Throws where a content is
 * sealed with a data key that is retired: seal it again.
 */
export async function queueReplies(session: Transaction, replies: readonly QueuedReply[]): Promise<void> {
  if (replies.length === 0) return;
  const keys = [replies.map(({ applicationId }) => applicationId), replies.map(({ turn }) => turn)];
  const { rowCount } = await session.query(QUEUE, [
    ...keys,
    replies.map(({ partnerId }) => partnerId),
    replies.map(({ phoneIndex }) => toBigint(phoneIndex)),
    replies.map(({ content }) => content),
    replies.map(({ windowUntil }) => windowUntil),
  ]);
  if (rowCount === replies.length) return;
  const { rows } = await session.query<{ count: number }>(ARE_QUEUED, keys);
  if (rows[0]?.count !== replies.length) throw new Error('a reply is sealed with a data key that is retired');
}

/** A reply as operators and the evidence of a signature see it. */
export interface StoredReply {
  readonly id: ReplyId;
  readonly turn: number;
  readonly status: MessageStatus;
  readonly reason: MessageReason | null;
  /** Blind index of the channel's own id; null until the channel took the reply. */
  readonly channelIndex: BlindIndex<'channel_message_id'> | null;
  readonly createdAt: Date;
  readonly windowUntil: Date;
  /** By the database's clock. */
  readonly sentAt: Date | null;
  /** By the channel's clock. */
  readonly deliveredAt: Date | null;
  readonly readAt: Date | null;
}

const OF_APPLICATION = `
  SELECT id, turn, status, reason, channel_message_id, created_at, window_until, sent_at, delivered_at, read_at
  FROM replies WHERE application_id = $1 ORDER BY turn`;

/** The replies of an application, in the order of their turns. */
export async function repliesOf(session: Session, applicationId: ApplicationId): Promise<StoredReply[]> {
  const { rows } = await session.query<{
    id: string;
    turn: number;
    status: MessageStatus;
    reason: MessageReason | null;
    channel_message_id: string | null;
    created_at: Date;
    window_until: Date;
    sent_at: Date | null;
    delivered_at: Date | null;
    read_at: Date | null;
  }>(OF_APPLICATION, [applicationId]);
  return rows.map((row) => ({
    id: toReplyId(row.id),
    turn: row.turn,
    status: row.status,
    reason: row.reason,
    channelIndex: row.channel_message_id === null ? null : fromBigint(row.channel_message_id),
    createdAt: row.created_at,
    windowUntil: row.window_until,
    sentAt: row.sent_at,
    deliveredAt: row.delivered_at,
    readAt: row.read_at,
  }));
}

/** The reply that a person answers. */
export interface AnsweredReply {
  readonly replyId: ReplyId;
  readonly applicationId: ApplicationId;
  readonly turn: number;
  readonly phoneIndex: BlindIndex<'phone'>;
}

const OF_CHANNEL = `
  SELECT id, application_id, turn, phone_index, channel_message_id FROM replies
  WHERE channel_message_id = ANY ($1::bigint[])`;

/** The replies with these ids of the channel, by the id; ids of no reply are absent. */
export async function replyOfChannelMessage(
  session: Session,
  indexes: readonly BlindIndex<'channel_message_id'>[],
): Promise<Map<BlindIndex<'channel_message_id'>, AnsweredReply>> {
  if (indexes.length === 0) return new Map();
  const { rows } = await session.query<{
    id: string;
    application_id: string;
    turn: number;
    phone_index: string;
    channel_message_id: string;
  }>(OF_CHANNEL, [indexes.map(toBigint)]);
  return new Map(
    rows.map((row) => [
      fromBigint<'channel_message_id'>(row.channel_message_id),
      {
        replyId: toReplyId(row.id),
        applicationId: toApplicationId(row.application_id),
        turn: row.turn,
        phoneIndex: fromBigint<'phone'>(row.phone_index),
      },
    ]),
  );
}
