/**
 * Lets an operator retry or cancel the messages of one application (docs/messages.md, "Uncertain messages"). Writes
 * `message_records`.
 */
import {
  type ApplicationId,
  type MessageId,
  messageIdsOf,
  toMessageId,
} from '../../../../domain/application/ids.ts';
import { type Database, inTransaction } from '../../../../ground/postgres/database.ts';
import { makeMessages, noteWaitingRejections } from '../message-records.ts';
import { readMessagesById, type StoredMessage } from '../messages.ts';
import { CHANGE, CHANGEABLE_STATUSES, IS_READY, type MessageChange } from './operator-changes.ts';

function changeText(change: MessageChange): string {
  return `
  UPDATE message_records SET ${CHANGE[change]}
  WHERE message_id = ANY ($1::bigint[]) AND message_id = ANY (ARRAY(
    SELECT message_id FROM message_records
    WHERE message_id = ANY ($1::bigint[]) AND status = ANY ('{${CHANGEABLE_STATUSES[change]}}') AND ${IS_READY}
    ORDER BY message_id FOR NO KEY UPDATE))
  RETURNING message_id`;
}

/**
 * Queues again those messages of an application that failed, or that are uncertain and may be settled. Returns these
 * messages.
 */
export function retryMessages(database: Database, applicationId: ApplicationId): Promise<StoredMessage[]> {
  return changeMessages(database, 'retry', messageIdsOf(applicationId));
}

/**
 * Cancels those messages of an application that are queued, or that are uncertain and may be settled. Returns these
 * messages.
 */
export async function cancelMessages(
  database: Database,
  applicationId: ApplicationId,
): Promise<StoredMessage[]> {
  const ids = messageIdsOf(applicationId);
  await makeMessages(database, ids);
  return changeMessages(database, 'cancel', ids);
}

async function changeMessages(
  database: Database,
  change: MessageChange,
  ids: readonly MessageId[],
): Promise<StoredMessage[]> {
  const changed = await inTransaction(database, async (session) => {
    const { rows } = await session.query<{ message_id: string }>(changeText(change), [ids]);
    const messageIds = rows.map(({ message_id }) => toMessageId(message_id));
    if (change === 'retry') await noteWaitingRejections(session, messageIds);
    return messageIds;
  });
  return readMessagesById(database, changed);
}
