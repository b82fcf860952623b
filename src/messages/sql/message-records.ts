/** The records of single messages (head of `migrations/0007_messages.sql`). */
import type { MessageId } from '../../applications/rules/ids.ts';
import type { Session } from '../../postgres/database.ts';

const MAKE = 'SELECT make_messages($1)';

/** Makes the records of the messages that have none yet, so that each message can be changed alone. */
export async function makeMessages(session: Session, messageIds: readonly MessageId[]): Promise<void> {
  if (messageIds.length > 0) await session.query(MAKE, [messageIds]);
}
