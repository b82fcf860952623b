/** Messages and replies to a phone that is somebody else's (`sql/functions/messages/wrong-person.sql`). */
import { type ApplicationId, messageIdsOf, partitionOf } from '../../../domain/application/ids.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';
import { inOrder } from './changes/operator-changes.ts';

const CANCEL_REPLIES = 'SELECT cancel_replies_for_wrong_person($1)';
const CANCEL_MESSAGES = 'SELECT cancel_messages_for_wrong_person($1)';

/** Cancels the replies that wait for applications whose phone is somebody else's. The caller has noted that (D43). */
export async function cancelRepliesForWrongPerson(
  session: Transaction,
  ids: readonly ApplicationId[],
): Promise<void> {
  if (ids.length > 0) await session.query(CANCEL_REPLIES, [ids]);
}

/** Cancels the messages that wait for such applications, after their replies: the order of locks. */
export async function cancelMessagesForWrongPerson(
  session: Transaction,
  ids: readonly ApplicationId[],
): Promise<void> {
  const messages = inOrder(ids.flatMap(messageIdsOf));
  for (const some of byPartitions(messages, partitionOf)) await session.query(CANCEL_MESSAGES, [some]);
}
