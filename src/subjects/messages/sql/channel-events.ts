/**
 * The statements that apply status events to messages (docs/messages.md, "What moves a message"). Locks and writes
 * `message_records`, `recipients`, `sender` and `paused_templates`.
 */
import {
  type ApplicationId,
  applicationOfMessage,
  type BlindIndex,
  type MessageId,
} from '../../../domain/application/ids.ts';
import type { MessageType } from '../../../domain/message/notify.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import type { Brand } from '../../../domain/partner/brand.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import { readIndex, toBigint } from '../../../seal/blind-indexes.ts';
import type { MessageMove, MessageState } from '../rules/settle.ts';
import type { FailedMessage } from './failed-messages.ts';
import { makeMessages, noteWaitingRejections } from './message-records.ts';
import { pauseSender, pauseTemplate } from './pauses.ts';
import { WAITING_STATUSES } from './waiting-messages.ts';

/** A message whose row this transaction has locked. */
export interface HeldMessage extends MessageState {
  readonly messageId: MessageId;
  readonly type: MessageType;
  /** The templates in the brand of the message's key. */
  readonly templates: Brand['templates'];
  readonly phoneIndex: BlindIndex<'phone'>;
}

/** The changes to write for the held messages. */
export interface Settlement {
  readonly moves: readonly (MessageMove & { readonly messageId: MessageId })[];
  /** Why these events pause the sender until an operator resumes it; null: they do not. */
  readonly pauseSender: MessageReason | null;
  /** The templates to pause, with the reason for each. */
  readonly pauseTemplates: ReadonlyMap<string, MessageReason>;
}

type HeldRow = Omit<HeldMessage, 'templates' | 'phoneIndex'>;

/** A channel's id tells no partition, so only the newest ones are searched (`recent_from`). */
const FIND = 'SELECT message_id AS id FROM messages_of_channel($1)';
const HOLD = `
  SELECT message_id AS "messageId", status, attempts, tries, ${readIndex('channel_message_id')} AS "channelIndex", type
  FROM message_records
  WHERE message_id = ANY ($1::bigint[]) AND (message_id = ANY ($2::bigint[]) OR channel_message_id = ANY ($3::bigint[]))
  ORDER BY message_id FOR NO KEY UPDATE`;

interface Addressee {
  readonly id: ApplicationId;
  readonly templates: NonNullable<Brand['templates']> | null;
  readonly phoneIndex: BlindIndex<'phone'>;
}

/**
 * A statement of its own, because on a cluster a statement about a table of the coordinator may not ask other machines.
 */
const ADDRESSEES = `
  SELECT a.id::float8, k.brand -> 'templates' AS templates, ${readIndex('a.phone_index')} AS "phoneIndex"
  FROM applications_of($1::bigint[]) a JOIN api_keys k ON k.id = a.api_key_id`;

/** In UTC, because on a cluster an UPDATE that computes with columns may depend on no time zone. */
const MOVE = `
  UPDATE message_records m SET status = g.status, channel_message_id = g.channel_message_id, reason = g.reason,
    due_at = (now() AT TIME ZONE 'UTC' + g.after_ms * interval '1 millisecond') AT TIME ZONE 'UTC', changed_at = now()
  FROM unnest($1::bigint[], $2::message_status[], $3::bigint[], $4::text[], $5::float8[])
    AS g(id, status, channel_message_id, reason, after_ms)
  WHERE m.message_id = g.id AND m.message_id = ANY ($1::bigint[])`;

/** A message that may go out again does not tell when its last send reached the channel (`record_send_results`). */
const NOTE_ANSWERS = `
  UPDATE recipients SET answered_at = now() WHERE phone_index IN (
    SELECT phone_index FROM recipients
    WHERE phone_index = ANY ($1::bigint[]) AND message_id = ANY ($2::bigint[]) AND answered_at IS NULL
    ORDER BY phone_index FOR NO KEY UPDATE)`;

interface Find {
  readonly messageIds: readonly MessageId[];
  readonly channelIndexes: readonly BlindIndex<'channel_message_id'>[];
}

/**
 * In the caller's transaction, locks the messages with these ids or channel ids (as blind indexes), asks `decide` for
 * the changes, and writes them. Returns how many pauses are new, and the messages that failed. The caller gives these
 * to `tellFailed` at the end of the transaction.
 */
export async function settleMessages(
  session: Transaction,
  find: Find,
  decide: (held: readonly HeldMessage[]) => Settlement,
): Promise<{ pauses: number; failed: FailedMessage[] }> {
  await makeMessages(session, find.messageIds);
  const held = await hold(session, find);
  const { moves, pauseSender: senderReason, pauseTemplates } = decide(held);
  if (moves.length > 0) {
    await session.query(MOVE, [
      moves.map(({ messageId }) => messageId),
      moves.map(({ status }) => status),
      moves.map(({ channelIndex }) => channelIndex && toBigint(channelIndex)),
      moves.map(({ reason }) => reason),
      moves.map(({ status, afterMs }) => (WAITING_STATUSES.includes(status) ? afterMs : null)),
    ]);
  }
  const queued = moves.filter(({ status }) => status === 'queued').map(({ messageId }) => messageId);
  await noteWaitingRejections(session, queued);
  let pauses = 0;
  if (senderReason !== null && (await pauseSender(session, senderReason))) pauses += 1;
  // Sorted, so that two transactions do not wait for each other in a circle.
  for (const [name, reason] of [...pauseTemplates].sort()) {
    if (await pauseTemplate(session, name, reason)) pauses += 1;
  }
  const again = new Set(
    moves
      .filter(({ status }) => status === 'queued' || status === 'failed')
      .map(({ messageId }) => messageId),
  );
  if (again.size > 0) {
    const phones = held.filter(({ messageId }) => again.has(messageId));
    await session.query(NOTE_ANSWERS, [phones.map(({ phoneIndex }) => toBigint(phoneIndex)), [...again]]);
  }
  const hasFailed = new Set(
    moves.filter(({ status }) => status === 'failed').map(({ messageId }) => messageId),
  );
  return { pauses, failed: held.filter(({ messageId }) => hasFailed.has(messageId)) };
}

async function hold(session: Transaction, { messageIds, channelIndexes }: Find): Promise<HeldMessage[]> {
  if (channelIndexes.length === 0) return [];
  const indexes = channelIndexes.map(toBigint);
  const found = (await session.query<{ id: MessageId }>(FIND, [indexes])).rows;
  const ids = [...new Set([...messageIds, ...found.map(({ id }) => id)])];
  if (ids.length === 0) return [];
  const { rows } = await session.query<HeldRow>(HOLD, [ids, messageIds, indexes]);
  if (rows.length === 0) return [];
  const applicationIds = new Set(rows.map(({ messageId }) => applicationOfMessage(messageId)));
  const addressees = await session.query<Addressee>(ADDRESSEES, [[...applicationIds]]);
  const byId = new Map(addressees.rows.map((row) => [row.id, row]));
  return rows.flatMap((row) => {
    const addressee = byId.get(applicationOfMessage(row.messageId));
    if (addressee === undefined) return [];
    const { templates, phoneIndex } = addressee;
    return [{ ...row, templates: templates ?? undefined, phoneIndex }];
  });
}
