/** Changes of a single message by an operator. */
import type { ApplicationId } from '../domain/application/ids.ts';
import type { Database } from './database.ts';
import { makeMessages } from './message-records.ts';
import { readMessagesOf, type StoredMessage } from './messages.ts';

/** An operator may settle an uncertain message once the channel is no longer expected to. */
const SETTLED = `(status = 'uncertain' AND due_at <= now())`;

const RETRY = `
  UPDATE message_records SET status = 'queued', reason = 'operator', tries = 0, due_at = now(), changed_at = now()
  WHERE application_id = $1::bigint AND (status = 'failed' OR ${SETTLED})`;

const CANCEL = `
  UPDATE message_records SET status = 'cancelled', reason = 'operator', due_at = NULL, changed_at = now()
  WHERE application_id = $1::bigint AND (status = 'queued' OR ${SETTLED})`;

/** Queues a failed message again, or an uncertain one that may be settled. Returns null if the message is neither. */
export async function retryMessage(
  database: Database,
  applicationId: ApplicationId,
): Promise<StoredMessage | null> {
  return changeMessage(database, RETRY, applicationId);
}

/** Cancels a queued message, or an uncertain one that may be settled. Returns null if the message is neither. */
export async function cancelMessage(
  database: Database,
  applicationId: ApplicationId,
): Promise<StoredMessage | null> {
  await makeMessages(database, [applicationId]);
  return changeMessage(database, CANCEL, applicationId);
}

async function changeMessage(
  database: Database,
  text: string,
  applicationId: ApplicationId,
): Promise<StoredMessage | null> {
  const { rowCount } = await database.query(text, [applicationId]);
  return rowCount === 0 ? null : ((await readMessagesOf(database, [applicationId]))[0] ?? null);
}
