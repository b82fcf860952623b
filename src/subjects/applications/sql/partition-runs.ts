/**
 * Cuts lists of ids and walks over batches by partition, so that a statement locks few partitions. Reads
 * `closed_segments` and `elapsed`. `partitions.ts` says what a partition is.
 */
import {
  type BatchId,
  batchesOfPartition,
  partitionOfBatch,
  toBatchId,
} from '../../../domain/application/ids.ts';
import { UnavailableError } from '../../../ground/base/registration-failure.ts';
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';

/**
 * Most partitions of one statement: `most_partitions` in `sql/functions/messages/read.sql`. A test compares the two.
 */
export const MOST_PARTITIONS = 16;

/** The ids in their order, in parts that touch at most 16 partitions. */
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

/** The batch numbers from `least` on and before `before`, newest first, in ranges of 16 partitions. */
export function* partitionRunsBefore(
  before: BatchId,
  least = 0,
): Generator<{ from: BatchId; before: BatchId }, void, undefined> {
  for (let end = Number(before); end > least; ) {
    const first = Math.max(0, partitionOfBatch(toBatchId(end - 1)) - MOST_PARTITIONS + 1);
    const from = Math.max(least, Number(batchesOfPartition(first).from));
    yield { from: toBatchId(from), before: toBatchId(end) };
    end = from;
  }
}

const END = 'SELECT partitions_end FROM elapsed';

/** The batch number at which the last partition ends. */
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

/** All batches before `least` are in buckets. */
const RANGE = `
  SELECT coalesce((SELECT max(s.ends_at) FROM closed_segments s WHERE s.in_buckets), 0) AS least,
    e.partitions_end AS before FROM elapsed e`;

/** The last three arguments of `look_up` and of `look_up_person`. */
export type LookUpPart = readonly [from: string, before: string, areInBuckets: boolean];

/**
 * The parts of a search by blind indexes, newest first: batches that are in no look-up bucket yet, a few partitions at
 * a time, then the buckets. After a `vault reindex` no batch is in buckets for hours. Batches that are registered
 * meanwhile may be left out. Throws `UnavailableError` if the buckets were emptied meanwhile.
 */
export async function* lookUpParts(session: Session): AsyncGenerator<LookUpPart, void, undefined> {
  const { least, before: end } = await rangeOf(session);
  for (const { from, before } of partitionRunsBefore(toBatchId(end), least))
    yield [String(from), String(before), false];
  yield ['0', String(least), true];
  if ((await rangeOf(session)).least >= least) return;
  throw new UnavailableError('the indexes of the applications are being made again: search again');
}

async function rangeOf(session: Session): Promise<{ least: number; before: number }> {
  const row = onlyRow((await session.query<{ least: string; before: string }>(RANGE)).rows);
  return { least: Number(row.least), before: Number(row.before) };
}
