/**
 * Makes the blind indexes of the channel's ids in `message_records` again, after a change of the index key
 * (docs/keys.md, "The index key"). Works in steps by partition.
 */
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
import type { Reindexing, ReindexStep, Remaking } from '../../../seal/reindex.ts';
import { partitionsEnd } from '../../applications/sql/partition-runs.ts';

const READ_RECORDS = `
  SELECT message_id AS id, channel_message_id AS index FROM message_records
  WHERE message_id >= $1 AND message_id < $2 AND channel_message_id IS NOT NULL ORDER BY message_id LIMIT 10000`;
const WRITE_RECORDS = `
  UPDATE message_records m SET channel_message_id = g.index FROM unnest($1::bigint[], $2::bigint[]) AS g(id, index)
  WHERE m.message_id = ANY ($1::bigint[]) AND m.message_id = g.id`;
/** The most reads of one step, which is what has to be done again after a killed step. */
const READS = 10;

/** The messages after reviews. Their records are one partition, after all others. */
const AFTER_REVIEWS = {
  from: toMessageId(MESSAGE_ID_RANGES.at(-2)!.from),
  before: toMessageId(MESSAGE_ID_RANGES[0]!.before),
};

/** How the records are made again. A step goes on from the id of a message. */
export const RECORD_REINDEXING: Reindexing = { name: 'message records', step: reindexRecords };

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

/** Where the next step begins after this one has come to `from`, in a partition that ends at `before`. */
async function placeAfter(session: Transaction, from: MessageId, before: MessageId): Promise<string | null> {
  if (from === AFTER_REVIEWS.before) return null;
  const end = firstMessageOf(toBatchId(await partitionsEnd(session)));
  return from === before && BigInt(from) >= BigInt(end) ? AFTER_REVIEWS.from : from;
}
