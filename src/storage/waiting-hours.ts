/** Messages that wait for their contact window. */
import { type MessageId, toMessageId } from '../domain/application/ids.ts';
import type { Database } from './database.ts';

const IS_WAITING = "m.status = 'queued' AND m.reason = 'contact_window'";
const READ = `
  SELECT w.message_id FROM waiting_messages w JOIN message_records m ON m.message_id = w.message_id
  WHERE w.status = 'queued' AND ${IS_WAITING}`;
const MAKE_DUE = `
  UPDATE message_records SET due_at = now(), reason = NULL, changed_at = now() WHERE message_id IN (
    SELECT m.message_id FROM message_records m WHERE m.message_id = ANY ($1::bigint[]) AND ${IS_WAITING}
    ORDER BY m.message_id FOR NO KEY UPDATE)`;

/** The messages that wait for their contact window, in no order. */
export async function readWaitingForHours(database: Database): Promise<MessageId[]> {
  const { rows } = await database.query<{ message_id: string }>(READ);
  return rows.map(({ message_id }) => toMessageId(message_id));
}

/** Makes those of the messages due that still wait for their contact window. */
export async function makeWaitingDue(database: Database, ids: readonly MessageId[]): Promise<void> {
  await database.query(MAKE_DUE, [ids]);
}
