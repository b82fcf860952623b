/** Tells partners about messages that failed, as partner events (D41). Calls `tell_failed_messages`. */
import type { MessageId } from '../../../domain/application/ids.ts';
import type { MessageType } from '../../../domain/message/notify.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';

/** A message that this transaction has made `failed`. */
export interface FailedMessage {
  readonly messageId: MessageId;
  readonly type: MessageType;
}

const TELL = 'SELECT tell_failed_messages($1, $2)';

/** Writes the events of these messages. By the order of locks this is the last statement of a transaction. */
export async function tellFailed(session: Transaction, failed: readonly FailedMessage[]): Promise<void> {
  if (failed.length === 0) return;
  await session.query(TELL, [failed.map(({ messageId }) => messageId), failed.map(({ type }) => type)]);
}
