/** Where batches may be whose envelope still holds refused applicants: nearly always among the newest batches alone. */

import type { Database } from '../../postgres/database.ts';
import type { BatchId } from '../rules/ids.ts';

/** Batch numbers of few partitions: `from` <= id < `before`. */
interface SurplusRange {
  readonly from: BatchId;
  readonly before: BatchId;
  /** No new batch can come into the range. */
  readonly isClosed: boolean;
}

const READ = `
  SELECT begins_at AS from, ends_at AS before, in_buckets AS "isClosed" FROM closed_segments WHERE may_have_surplus
  UNION ALL SELECT open_from, partitions_end, false FROM elapsed`;

export async function readSurplusRanges(database: Database): Promise<SurplusRange[]> {
  return (await database.query<SurplusRange>(READ)).rows;
}

const HAS = 'SELECT FROM batches WHERE surplus AND id >= $1 AND id < $2 LIMIT 1';
const CLEAR = 'UPDATE closed_segments SET may_have_surplus = false WHERE ends_at = $1';

/** Leaves a closed range out from now on, if it holds no such batch any more. */
export async function leaveOutTrimmed(
  database: Database,
  { from, before, isClosed }: SurplusRange,
): Promise<void> {
  if (isClosed && (await database.query(HAS, [from, before])).rows.length === 0) {
    await database.query(CLEAR, [before]);
  }
}
