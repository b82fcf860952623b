/**
 * Makes the records of single messages (`message_records`, head of `migrations/0004_messages.sql`), and notes waiting
 * rejections (D42). Calls `make_messages` and `note_waiting_rejections`.
 */
import type { MessageId } from '../../../domain/application/ids.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';

const MAKE = 'SELECT make_messages($1)';

/** Makes the records of messages that have none yet, so that each message can be changed alone. */
export async function makeMessages(session: Session, messageIds: readonly MessageId[]): Promise<void> {
  if (messageIds.length > 0) await session.query(MAKE, [messageIds]);
}

const NOTE_REJECTIONS = 'SELECT note_waiting_rejections($1)';

/**
 * Notes which of these messages are `rejected` ones that wait again; the transaction has changed their records. Each
 * earlier message of the partner to the phone gives way to them (D42).
 */
export async function noteWaitingRejections(
  session: Transaction,
  messageIds: readonly MessageId[],
): Promise<void> {
  if (messageIds.length > 0) await session.query(NOTE_REJECTIONS, [messageIds]);
}
