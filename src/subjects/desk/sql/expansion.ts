/**
 * Makes the items of the review queue from the batches in review, and heals them (docs/operators.md, "The review
 * queue"). Calls `expand_reviews`, `expand_reviews_of` and `heal_review_items`.
 */
import { type ApplicationId, partitionOf } from '../../../domain/application/ids.ts';
import { type Database, onlyRow } from '../../../ground/postgres/database.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';

const EXPAND = 'SELECT batches, last FROM expand_reviews($1, $2, $3)';
const EXPAND_OF = 'SELECT expand_reviews_of($1, $2)';
const HEAL = 'SELECT last, removed, lacking FROM heal_review_items($1, $2)';

/** The number of a batch, as the decimal text of a bigint. `'0'` stands before all batches. */
type BatchNumber = string;

/**
 * Makes the items of at most `limit` batches after `after` that have no items yet, in one transaction. `batches`: how
 * many; `last`: the last of them, null: there was none. Any number of processes may do this at once.
 */
export async function expandReviews(
  database: Database,
  after: BatchNumber,
  limit: number,
  dueHours: number,
): Promise<{ readonly batches: number; readonly last: BatchNumber | null }> {
  return onlyRow(
    (await database.query<{ batches: number; last: BatchNumber | null }>(EXPAND, [after, limit, dueHours]))
      .rows,
  );
}

/**
 * Makes the items of those of these applications that are in review and have none yet. So an operator who acts on one
 * does not wait for the loop, and learns whose claim it is.
 */
export async function expandReviewsOf(
  database: Database,
  ids: readonly ApplicationId[],
  dueHours: number,
): Promise<void> {
  for (const near of byPartitions(ids, partitionOf)) await database.query(EXPAND_OF, [near, dueHours]);
}

/**
 * Compares the next `limit` batches in review with their items, and ends claims whose time is over. `last`: where the
 * next call goes on; null: the round has ended. `removed` items and `lacking` batches were wrong: both are 0 on a sound
 * store.
 */
export async function healReviewItems(
  database: Database,
  after: BatchNumber,
  limit: number,
): Promise<{ readonly last: BatchNumber | null; readonly removed: number; readonly lacking: number }> {
  const { rows } = await database.query<{ last: BatchNumber | null; removed: number; lacking: number }>(
    HEAL,
    [after, limit],
  );
  return onlyRow(rows);
}
