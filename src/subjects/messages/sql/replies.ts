/**
 * Replies: seals and queues them in the transaction of a turn, and finds them again (docs/messages.md, "Replies";
 * `sql/functions/messages/replies.sql`). Reads and writes `replies`.
 */
import type { ApplicationId, BlindIndex } from '../../../domain/application/ids.ts';
import type { MessageStatus } from '../../../domain/message/notify.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import type { ReplyContent, ReplyId, ToldReply } from '../../../domain/message/reply.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { Bell } from '../../../ground/base/bell.ts';
import { columnsOf } from '../../../ground/postgres/columns.ts';
import { onlyRow, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import { readIndex, toBigint } from '../../../seal/blind-indexes.ts';
import type { Vault } from '../../../seal/vault.ts';

/** A reply to queue. */
export interface QueuedReply {
  readonly applicationId: ApplicationId;
  /** The number of the turn. The numbers of a conversation increase, and a turn never has a second reply. */
  readonly turn: number;
  readonly partnerId: PartnerId;
  readonly phoneIndex: BlindIndex<'phone'>;
  /** The content as `sealReply` makes it. */
  readonly content: Buffer;
  /** Until then the channel takes the reply. */
  readonly windowUntil: Date;
}

/** Rings after a transaction with replies has committed, so that this process sends them at once. */
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

/** The arguments of `queue_replies`. */
export function replyValues(replies: readonly QueuedReply[]): unknown[] {
  return [
    ...columnsOf(replies, 'applicationId', 'turn', 'partnerId'),
    replies.map(({ phoneIndex }) => toBigint(phoneIndex)),
    ...columnsOf(replies, 'content', 'windowUntil'),
  ];
}

/** The error for a reply whose content is sealed with a retired data key: seal it again. */
export function retiredReplyKey(): Error {
  return new Error('a reply is sealed with a data key that is retired');
}

const QUEUE = 'SELECT queue_replies($1, $2, $3, $4, $5, $6) AS "areQueued"';

/**
 * Queues replies; a turn that already has a reply keeps that one. After the commit, ring `REPLY_BELL`. Throws if a
 * content is sealed with a retired data key: seal it again.
 */
export async function queueReplies(session: Transaction, replies: readonly QueuedReply[]): Promise<void> {
  if (replies.length === 0) return;
  const { rows } = await session.query<{ areQueued: boolean }>(QUEUE, replyValues(replies));
  if (!onlyRow(rows).areQueued) throw retiredReplyKey();
}

/** A reply as operators and the evidence of a signature see it. */
export interface StoredReply {
  readonly id: ReplyId;
  readonly turn: number;
  readonly status: MessageStatus;
  readonly reason: MessageReason | null;
  /** The blind index of the channel's own id; null: the channel has not taken the reply yet. */
  readonly channelIndex: BlindIndex<'channel_message_id'> | null;
  readonly createdAt: Date;
  readonly windowUntil: Date;
  /** When it was sent, by the database's clock. */
  readonly sentAt: Date | null;
  /** When it was delivered, by the channel's clock. */
  readonly deliveredAt: Date | null;
  readonly readAt: Date | null;
}

const OF_APPLICATION = `
  SELECT id, turn, status, reason, ${readIndex('channel_message_id')} AS "channelIndex", created_at AS "createdAt",
    window_until AS "windowUntil", sent_at AS "sentAt", delivered_at AS "deliveredAt", read_at AS "readAt"
  FROM replies WHERE application_id = $1 ORDER BY turn`;

/** The replies of an application, in the order of their turns. */
export async function repliesOf(session: Session, applicationId: ApplicationId): Promise<StoredReply[]> {
  return (await session.query<StoredReply>(OF_APPLICATION, [applicationId])).rows;
}

/** The reply that a person answers. */
export interface AnsweredReply {
  readonly replyId: ReplyId;
  readonly applicationId: ApplicationId;
  readonly turn: number;
  readonly phoneIndex: BlindIndex<'phone'>;
}

const OF_CHANNEL = `
  SELECT id AS "replyId", application_id::float8 AS "applicationId", turn, ${readIndex('phone_index')} AS "phoneIndex",
    ${readIndex('channel_message_id')} AS index
  FROM replies
  WHERE channel_message_id = ANY ($1::bigint[])`;

/** The replies with these ids of the channel, by the id. Ids that belong to no reply are absent. */
export async function replyOfChannelMessage(
  session: Session,
  indexes: readonly BlindIndex<'channel_message_id'>[],
): Promise<Map<BlindIndex<'channel_message_id'>, AnsweredReply>> {
  if (indexes.length === 0) return new Map();
  type Row = AnsweredReply & { readonly index: BlindIndex<'channel_message_id'> };
  const { rows } = await session.query<Row>(OF_CHANNEL, [indexes.map(toBigint)]);
  return new Map(rows.map(({ index, ...reply }) => [index, reply]));
}

const TOLD = 'SELECT t.fate, t.arrived_at AS "arrivedAt" FROM told_replies($1, ARRAY[$2::integer]) AS t';

/** The reply of a turn; null: there is none. */
export async function toldReply(
  session: Session,
  id: ApplicationId,
  turn: number,
): Promise<ToldReply | null> {
  const { rows } = await session.query<ToldReply>({ name: 'told_reply', text: TOLD, values: [id, turn] });
  return rows[0] ?? null;
}
