/** Changes of the messages of one application by an operator. */
import { type ApplicationId, type MessageId, messageIdsOf, toMessageId } from '../domain/application/ids.ts';
import type { Database } from './database.ts';
import { makeMessages } from './message-records.ts';
import { readMessagesById, type StoredMessage } from './messages.ts';

/** An operator may settle an uncertain message once the channel is no longer expected to. */
const SETTLED = "(status = 'uncertain' AND due_at <= now())";

const RETRY = `
  UPDATE message_records SET status = 'queued', reason = 'operator', tries = 0, due_at = now(), changed_at = now()
  WHERE message_id = ANY ($1::bigint[]) AND message_id = ANY (ARRAY(
    SELECT message_id FROM message_records WHERE message_id = ANY ($1::bigint[]) AND (status = 'failed' OR ${SETTLED})
    ORDER BY message_id FOR NO KEY UPDATE))
  RETURNING message_id`;

const CANCEL = `
  UPDATE message_records SET status = 'cancelled', reason = 'operator', due_at = NULL, changed_at = now()
  WHERE message_id = ANY ($1::bigint[]) AND message_id = ANY (ARRAY(
    SELECT message_id FROM message_records WHERE message_id = ANY ($1::bigint[]) AND (status = 'queued' OR ${SETTLED})
    ORDER BY message_id FOR NO KEY UPDATE))
  RETURNING message_id`;

/**
 * Queues the messages of an application again that failed, or that are uncertain and may be settled. Returns these
 * messages.
 */
export function retryMessages(database: Database, applicationId: ApplicationId): Promise<StoredMessage[]> {
  return changeMessages(database, RETRY, messageIdsOf(applicationId));
}

/**
 * Cancels the messages of an application that are queued, or that are uncertain and may be settled. Returns these
 * messages.
 */
export async function cancelMessages(
  database: Database,
  applicationId: ApplicationId,
): Promise<StoredMessage[]> {
  const ids = messageIdsOf(applicationId);
  await makeMessages(database, ids);
  return changeMessages(database, CANCEL, ids);
}

async function changeMessages(
  database: Database,
  text: string,
  ids: readonly MessageId[],
): Promise<StoredMessage[]> {
  const { rows } = await database.query<{ message_id: string }>(text, [ids]);
  return readMessagesById(
    database,
    rows.map(({ message_id }) => toMessageId(message_id)),
  );
}
