/** Messages that wait for their contact window. */
import { type MessageId, partitionOf, toMessageId } from '../../applications/rules/ids.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';
import type { Database } from '../../postgres/database.ts';
import { walkWaiting } from './waiting-messages.ts';

const IS_WAITING = "m.status = 'queued' AND m.reason = 'contact_window'";
const READ = `SELECT m.message_id FROM message_records m WHERE m.message_id = ANY ($1::bigint[]) AND ${IS_WAITING}`;
const MAKE_DUE = `
  UPDATE message_records SET due_at = now(), reason = NULL, changed_at = now()
  WHERE message_id = ANY ($1::bigint[]) AND message_id = ANY (ARRAY(
    SELECT m.message_id FROM message_records m WHERE m.message_id = ANY ($1::bigint[]) AND ${IS_WAITING}
    ORDER BY m.message_id FOR NO KEY UPDATE))`;

/** The messages that wait for their contact window, in no order. */
export async function readWaitingForHours(database: Database): Promise<MessageId[]> {
  const waiting: MessageId[] = [];
  for await (const ids of walkWaiting(database, 'queued')) {
    const { rows } = await database.query<{ message_id: string }>(READ, [ids]);
    for (const { message_id } of rows) waiting.push(toMessageId(message_id));
  }
  return waiting;
}

/** Makes those of the messages due that still wait for their contact window. */
export async function makeWaitingDue(database: Database, ids: readonly MessageId[]): Promise<void> {
  for (const some of byPartitions(ids, partitionOf)) await database.query(MAKE_DUE, [some]);
}
