/**
 * Reads how many messages have each status from kept counts (`message_counts`, `migrations/0004_messages.sql`): exact,
 * and read in milliseconds.
 */
import type { MessageStatus } from '../../../domain/message/notify.ts';
import type { Database } from '../../../ground/postgres/database.ts';

const COUNT = `
  SELECT status, sum(count) AS count FROM message_counts
  GROUP BY status HAVING sum(count) <> 0 ORDER BY status`;

/** The number of messages of each status that occurs. */
export async function countMessages(database: Database): Promise<{ status: MessageStatus; count: number }[]> {
  const { rows } = await database.query<{ status: MessageStatus; count: string }>(COUNT);
  return rows.map(({ status, count }) => ({ status, count: Number(count) }));
}

/** The number of messages with this status. */
export async function countOfStatus(database: Database, status: MessageStatus): Promise<number> {
  return (await countMessages(database)).find((one) => one.status === status)?.count ?? 0;
}
