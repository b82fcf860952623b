/**
 * Puts off or ends claimed messages that do not go out now (docs/messages.md, "Reasons"). Writes `message_records` by
 * `put_off`.
 */
import type { MessageId } from '../../../domain/application/ids.ts';
import type { MessageStatus, MessageType } from '../../../domain/message/notify.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import { columnsOf } from '../../../ground/postgres/columns.ts';
import { type Database, inTransaction, type Transaction } from '../../../ground/postgres/database.ts';
import { tellFailed } from './failed-messages.ts';
import { makeMessages } from './message-records.ts';

const PUT_OFF = 'SELECT put_off($1, $2, $3, $4)';

/** A claimed message that does not go out now. It waits until `dueAt` (queued), or has ended (cancelled, failed). */
export interface Deferral {
  readonly messageId: MessageId;
  readonly status: Extract<MessageStatus, 'queued' | 'cancelled' | 'failed'>;
  /** The time by the database's clock. */
  readonly dueAt: Date;
  readonly reason: MessageReason;
}

/** Puts claimed messages off, or ends them. */
export async function defer(claim: Transaction, messages: readonly Deferral[]): Promise<void> {
  if (messages.length === 0) return;
  await claim.query(PUT_OFF, columnsOf(messages, 'messageId', 'dueAt', 'reason', 'status'));
}

const SET_ASIDE = `
  UPDATE message_records SET tries = tries + 1, status = CASE WHEN tries + 1 < $2 THEN status ELSE 'failed' END,
    reason = $3, due_at = now() + $4 * interval '1 millisecond', changed_at = now()
  WHERE message_id = $1::bigint AND status = 'queued'
  RETURNING type, status`;

/**
 * Sets a message aside that stops the others: it waits for `afterMs`, because its fault may pass, and fails after
 * `maxTries`.
 */
export async function setAside(
  database: Database,
  messageId: MessageId,
  { maxTries, reason, afterMs }: { maxTries: number; reason: MessageReason; afterMs: number },
): Promise<void> {
  await inTransaction(database, async (session) => {
    await makeMessages(session, [messageId]);
    const { rows } = await session.query<{ type: MessageType; status: MessageStatus }>(SET_ASIDE, [
      ...[messageId, maxTries, reason, afterMs],
    ]);
    const failed = rows.filter(({ status }) => status === 'failed');
    await tellFailed(
      session,
      failed.map(({ type }) => ({ messageId, type })),
    );
  });
}
