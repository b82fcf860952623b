/** Makes the blind indexes of phones, of persons at the channel and of the channel's messages again. */
import { firstMessageOf, MESSAGE_ID_RANGES } from '../../applications/rules/ids.ts';
import { partitionsDown } from '../../applications/sql/partition-runs.ts';
import type { Transaction } from '../../postgres/database.ts';
import { type Again, type IndexColumn, reindexColumns } from '../../seal/reindex.ts';

const NEW = 'unnest($1::bigint[], $2::bigint[]) AS g(before, after)';

const COLUMNS: readonly IndexColumn[] = [
  {
    read: 'SELECT phone_index AS index FROM suppressions',
    write: `UPDATE suppressions t SET phone_index = g.after FROM ${NEW} WHERE t.phone_index = g.before`,
  },
  {
    read: 'SELECT phone_index AS index FROM recipients',
    write: `UPDATE recipients t SET phone_index = g.after FROM ${NEW} WHERE t.phone_index = g.before`,
  },
  {
    read: 'SELECT DISTINCT phone_index AS index FROM waiting_rejections',
    write: `UPDATE waiting_rejections t SET phone_index = g.after FROM ${NEW} WHERE t.phone_index = g.before`,
  },
  {
    read: 'SELECT user_index AS index FROM channel_users',
    write: `UPDATE channel_users t SET user_index = g.after FROM ${NEW} WHERE t.user_index = g.before`,
  },
  {
    read: 'SELECT DISTINCT phone_index AS index FROM channel_users WHERE phone_index IS NOT NULL',
    write: `UPDATE channel_users t SET phone_index = g.after FROM ${NEW} WHERE t.phone_index = g.before`,
  },
  {
    read: 'SELECT DISTINCT channel_message_id AS index FROM early_events',
    write: `UPDATE early_events t SET channel_message_id = g.after FROM ${NEW} WHERE t.channel_message_id = g.before`,
  },
  {
    read: 'SELECT DISTINCT user_index AS index FROM early_events WHERE user_index IS NOT NULL',
    write: `UPDATE early_events t SET user_index = g.after FROM ${NEW} WHERE t.user_index = g.before`,
  },
];

const READ_RECORDS = `
  SELECT message_id AS id, channel_message_id AS index FROM message_records
  WHERE message_id >= $1 AND message_id < $2 AND channel_message_id IS NOT NULL ORDER BY message_id LIMIT 10000`;
const WRITE_RECORDS = `
  UPDATE message_records m SET channel_message_id = g.index FROM unnest($1::bigint[], $2::bigint[]) AS g(id, index)
  WHERE m.message_id = ANY ($1::bigint[]) AND m.message_id = g.id`;

export async function reindexMessages(session: Transaction, again: Again): Promise<number> {
  let written = await reindexColumns(session, again, COLUMNS);
  const ranges = MESSAGE_ID_RANGES.slice(0, -1);
  for await (const { from, before } of partitionsDown(session)) {
    ranges.push({ from: firstMessageOf(from), before: firstMessageOf(before) });
  }
  for (const { from, before } of ranges) {
    for (let next: string | null = from; next !== null; ) {
      const { rows }: { rows: { id: string; index: string }[] } = await session.query(READ_RECORDS, [
        next,
        before,
      ]);
      const last = rows.at(-1);
      next = last === undefined ? null : `${BigInt(last.id) + 1n}`;
      if (last === undefined) continue;
      await session.query(WRITE_RECORDS, [rows.map(({ id }) => id), rows.map(({ index }) => again(index))]);
      written += rows.length;
    }
  }
  return written;
}
