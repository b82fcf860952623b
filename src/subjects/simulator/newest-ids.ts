/** The ranges of ids in which the simulator looks for the newest messages. Calls `recent_from`. */
import {
  type BatchId,
  firstMessageOf,
  MESSAGE_ID_RANGES,
  type MessageId,
} from '../../domain/application/ids.ts';
import { type Database, onlyRow } from '../../ground/postgres/database.ts';

/** From this id on the messages are those after reviews. */
export const FIRST_AFTER_REVIEW = MESSAGE_ID_RANGES.at(-1)!.before;

const RECENT = 'SELECT recent_from() AS from';

/** The least id of the messages that count as new here. Only the newest partitions are read. */
export async function recentMessagesFrom(database: Database): Promise<MessageId> {
  const { from } = onlyRow((await database.query<{ from: BatchId }>(RECENT)).rows);
  return firstMessageOf(from);
}
