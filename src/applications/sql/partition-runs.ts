/** Cuts lists of ids and walks by partition, so that a statement locks few partitions. */

import type { Session } from '../../postgres/database.ts';
import { type BatchId, batchesOfPartition, partitionOfBatch, toBatchId } from '../rules/ids.ts';

/**
 * Most partitions of one statement: `most_partitions` in `migrations/0009_messages_read.sql`. A test compares the two.
 */
export const MOST_PARTITIONS = 16;

/** The ids in their order, cut where they would touch more than 16 partitions. */
export function* byPartitions<Id>(
  ids: readonly Id[],
  partitionOf: (id: Id) => number,
): Generator<Id[], void, undefined> {
  let run: Id[] = [];
  let touched = new Set<number>();
  for (const id of ids) {
    const partition = partitionOf(id);
    if (touched.size === MOST_PARTITIONS && !touched.has(partition)) {
      yield run;
      run = [];
      touched = new Set();
    }
    touched.add(partition);
    run.push(id);
  }
  if (run.length > 0) yield run;
}

/** The batch numbers before `before`, newest first, in ranges of 16 partitions: `from` <= id < `before`. */
export function* partitionRunsBefore(
  before: BatchId,
): Generator<{ from: BatchId; before: BatchId }, void, undefined> {
  for (let end = Number(before); end > 0; ) {
    const first = Math.max(0, partitionOfBatch(toBatchId(end - 1)) - MOST_PARTITIONS + 1);
    const { from } = batchesOfPartition(first);
    yield { from, before: toBatchId(end) };
    end = Number(from);
  }
}

const END = 'SELECT partitions_end FROM elapsed';

/** Where the last partition ends. */
export async function partitionsEnd(session: Session): Promise<number> {
  const { rows } = await session.query<{ partitions_end: string }>(END);
  return Number(rows[0]?.partitions_end ?? 0);
}

/** The batch numbers of each partition, newest first: from that of batch `before` - 1, or from the last partition. */
export async function* partitionsDown(
  session: Session,
  before: BatchId | null = null,
): AsyncGenerator<{ from: BatchId; before: BatchId }, void, undefined> {
  const end = Math.min(await partitionsEnd(session), Number(before ?? Number.POSITIVE_INFINITY));
  for (let partition = partitionOfBatch(toBatchId(end - 1)); partition >= 0; partition -= 1) {
    yield batchesOfPartition(partition);
  }
}
