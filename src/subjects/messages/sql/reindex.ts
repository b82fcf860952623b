/** Makes the blind indexes of phones, of persons at the channel and of the channel's messages again. */
import {
  batchesOfPartition,
  firstMessageOf,
  MESSAGE_ID_RANGES,
  type MessageId,
  partitionOf,
  toBatchId,
  toMessageId,
} from '../../../domain/application/ids.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import {
  type IndexColumn,
  type Reindexing,
  type ReindexStep,
  type Remaking,
  reindexColumns,
} from '../../../seal/reindex.ts';
import { partitionsEnd } from '../../applications/sql/partition-runs.ts';

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
    read: 'SELECT DISTINCT phone_index AS index FROM replies',
    write: `UPDATE replies t SET phone_index = g.after FROM ${NEW} WHERE t.phone_index = g.before`,
  },
  {
    read: 'SELECT DISTINCT channel_message_id AS index FROM replies WHERE channel_message_id IS NOT NULL',
    write: `UPDATE replies t SET channel_message_id = g.after FROM ${NEW} WHERE t.channel_message_id = g.before`,
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

/** Where one of two phones that become one was suppressed, it is. */
const MOVE_SUPPRESSIONS = `
  INSERT INTO suppressions AS t (phone_index, active, source, created_at, changed_at, stopped_at, resumed_at, lifted_at,
    lifted_stop, heard_ms)
  SELECT DISTINCT ON (g.after) g.after, s.active, s.source, s.created_at, s.changed_at, s.stopped_at, s.resumed_at,
    s.lifted_at, s.lifted_stop, s.heard_ms
  FROM suppressions s JOIN ${NEW} ON s.phone_index = g.before
  ORDER BY g.after, s.active DESC, s.created_at DESC
  ON CONFLICT (phone_index) DO UPDATE SET active = true, source = excluded.source, created_at = excluded.created_at,
    changed_at = excluded.changed_at, stopped_at = greatest(t.stopped_at, excluded.stopped_at)
  WHERE excluded.active AND NOT t.active`;
/** What stays under the old index is deleted by the upkeep a day later. */
const MOVE_RECIPIENTS = `
  UPDATE recipients t SET phone_index = g.after
  FROM (SELECT DISTINCT ON (u.after) u.before, u.after FROM unnest($1::bigint[], $2::bigint[]) AS u(before, after)
    ORDER BY u.after, u.before) AS g
  WHERE t.phone_index = g.before AND NOT EXISTS (SELECT FROM recipients o WHERE o.phone_index = g.after)`;
const MOVES = [
  MOVE_SUPPRESSIONS,
  `DELETE FROM suppressions s USING ${NEW} WHERE s.phone_index = g.before`,
  MOVE_RECIPIENTS,
  `UPDATE waiting_rejections t SET phone_index = g.after FROM ${NEW} WHERE t.phone_index = g.before`,
  `UPDATE replies t SET phone_index = g.after FROM ${NEW} WHERE t.phone_index = g.before`,
  `UPDATE channel_users t SET phone_index = g.after FROM ${NEW} WHERE t.phone_index = g.before`,
];

const READ_RECORDS = `
  SELECT message_id AS id, channel_message_id AS index FROM message_records
  WHERE message_id >= $1 AND message_id < $2 AND channel_message_id IS NOT NULL ORDER BY message_id LIMIT 10000`;
const WRITE_RECORDS = `
  UPDATE message_records m SET channel_message_id = g.index FROM unnest($1::bigint[], $2::bigint[]) AS g(id, index)
  WHERE m.message_id = ANY ($1::bigint[]) AND m.message_id = g.id`;
/** Most reads of one step: what a step that is killed has to do again. */
const READS = 10;

/** The messages after reviews, whose records are one partition after all others. */
const AFTER_REVIEWS = {
  from: toMessageId(MESSAGE_ID_RANGES.at(-2)!.from),
  before: toMessageId(MESSAGE_ID_RANGES[0]!.before),
};

/** What has blind indexes of messages. A step of the records goes on from the id of a message. */
export const MESSAGE_REINDEXINGS: readonly Reindexing[] = [
  reindexColumns('messages', COLUMNS, MOVES),
  { name: 'message records', step: reindexRecords },
];

async function reindexRecords(session: Transaction, { again }: Remaking, text: string): Promise<ReindexStep> {
  let from = toMessageId(text === '' ? '0' : text);
  const partition = partitionOf(from);
  const before = partition < 0 ? AFTER_REVIEWS.before : firstMessageOf(batchesOfPartition(partition).before);
  let written = 0;
  for (let reads = 0; reads < READS && from !== before; reads += 1) {
    const { rows } = await session.query<{ id: string; index: string }>(READ_RECORDS, [from, before]);
    const last = rows.at(-1);
    from = last === undefined ? before : toMessageId(`${BigInt(last.id) + 1n}`);
    if (last === undefined) continue;
    await session.query(WRITE_RECORDS, [rows.map(({ id }) => id), rows.map(({ index }) => again(index))]);
    written += rows.length;
  }
  return { next: await placeAfter(session, from, before), written };
}

/** Where the next step begins when this one came to `from` in a partition that ends at `before`. */
async function placeAfter(session: Transaction, from: MessageId, before: MessageId): Promise<string | null> {
  if (from === AFTER_REVIEWS.before) return null;
  const end = firstMessageOf(toBatchId(await partitionsEnd(session)));
  return from === before && BigInt(from) >= BigInt(end) ? AFTER_REVIEWS.from : from;
}
