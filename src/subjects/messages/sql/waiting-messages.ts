/**
 * Walks over the messages that wait for a time or for an operator, in the order of their ids. Reads `waiting_messages`.
 */
import { type MessageId, toMessageId } from '../../../domain/application/ids.ts';
import type { MessageStatus } from '../../../domain/message/notify.ts';
import type { Database } from '../../../ground/postgres/database.ts';

/** Only messages of these statuses wait, and have a due time: `is_waiting` of the database. */
export const WAITING_STATUSES: readonly MessageStatus[] = ['queued', 'uncertain', 'failed'];

/** The most messages of one step. */
const STEP = 5_000;

/** The messages of one step lie in few partitions (`of_few_partitions`). */
const WALK = `
  SELECT unnest(of_few_partitions(ARRAY(
    SELECT message_id FROM waiting_messages WHERE status = $1 AND message_id > $2 ORDER BY message_id LIMIT ${STEP}
  )))::text AS id`;

/** The messages with this status that waited when the walk came to them, in steps that fit one statement each. */
export async function* walkWaiting(
  database: Database,
  status: MessageStatus,
): AsyncGenerator<MessageId[], void, undefined> {
  for (let after = '0'; ; ) {
    const { rows } = await database.query<{ id: string }>(WALK, [status, after]);
    const ids = rows.map(({ id }) => toMessageId(id));
    const last = ids.at(-1);
    if (last === undefined) return;
    yield ids;
    after = last;
  }
}
