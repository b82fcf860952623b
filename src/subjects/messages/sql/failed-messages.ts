/** Tells partners of messages that failed (D41). */
import type { MessageId } from '../../../domain/application/ids.ts';
import type { MessageType } from '../../../domain/message/notify.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';

/** A message that the session's transaction made `failed`. */
export interface FailedMessage {
  readonly messageId: MessageId;
  readonly type: MessageType;
}

const TELL = 'SELECT tell_failed_messages($1, $2)';

/** Writes the events of these messages. The last statement of the transaction, by the order of locks. */
export async function tellFailed(session: Transaction, failed: readonly FailedMessage[]): Promise<void> {
  if (failed.length === 0) return;
  await session.query(TELL, [failed.map(({ messageId }) => messageId), failed.map(({ type }) => type)]);
}
