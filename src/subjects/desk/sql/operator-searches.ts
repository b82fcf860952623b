/**
 * Counts the searches of each operator, and lets 60 in a minute through (docs/operators.md, "Find"). Reads and writes
 * `operator_searches`. The time is the database's, over all processes (D39).
 */
import { type Database, onlyRow } from '../../../ground/postgres/database.ts';

/** So many searches at once, and one a second after them. */
export const MOST_SEARCHES = 60;

const SECOND = "interval '1 second'";
/** Where the clock has gone back, what lies further ahead than any search puts it does not count. */
const BUSY = `CASE WHEN s.busy_until > now() + ${MOST_SEARCHES + 1} * ${SECOND} THEN now() ELSE greatest(s.busy_until, now()) END`;
const IS_FULL = `${BUSY} > now() + ${MOST_SEARCHES - 1} * ${SECOND}`;

const COUNT = `
  WITH counted AS (
    INSERT INTO operator_searches AS s (operator_id, busy_until, is_refused, searched, refused)
    VALUES ($1, now() + ${SECOND}, false, 1, 0)
    ON CONFLICT (operator_id) DO UPDATE SET is_refused = ${IS_FULL},
      busy_until = CASE WHEN ${IS_FULL} THEN s.busy_until ELSE ${BUSY} + ${SECOND} END,
      searched = s.searched + CASE WHEN ${IS_FULL} THEN 0 ELSE 1 END,
      refused = s.refused + CASE WHEN ${IS_FULL} THEN 1 ELSE 0 END
    RETURNING s.is_refused, s.busy_until
  )
  SELECT c.is_refused AS "isRefused",
    ceil(extract(epoch FROM c.busy_until - now()) - ${MOST_SEARCHES - 1})::integer AS "waitSeconds"
  FROM counted c`;

/** Counts a search of the operator. The seconds to wait where it is one too many; null: it may be done. */
export async function countSearch(database: Database, operatorId: number): Promise<number | null> {
  const { rows } = await database.query<{ isRefused: boolean; waitSeconds: number }>(COUNT, [operatorId]);
  const { isRefused, waitSeconds } = onlyRow(rows);
  return isRefused ? Math.max(1, waitSeconds) : null;
}
