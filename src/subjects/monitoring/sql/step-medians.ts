/**
 * Remembers the median times to the steps of the business, so that a scrape reads a row a step (docs/monitoring.md).
 * Reads `business_waits`, writes `step_medians`.
 */
import type { Session } from '../../../ground/postgres/database.ts';

/** The bucket in which the half of the applications lies; a step that nobody took has no row. */
const REMEMBER = `
  WITH counted AS (
    SELECT b.step, b.bucket, sum(b.times) AS times FROM business_waits b
    WHERE b.per = 'day' AND b.day >= (now() AT TIME ZONE 'UTC')::date - 7 AND b.day < (now() AT TIME ZONE 'UTC')::date
    GROUP BY b.step, b.bucket
  ), added AS (
    SELECT c.step, c.bucket, sum(c.times) OVER (PARTITION BY c.step) AS times,
      sum(c.times) OVER (PARTITION BY c.step ORDER BY c.bucket) AS up_to
    FROM counted c
  ), medians AS (
    SELECT DISTINCT ON (a.step) a.step, a.bucket FROM added a WHERE a.up_to * 2 >= a.times ORDER BY a.step, a.bucket
  ), gone AS (
    DELETE FROM step_medians m WHERE m.step NOT IN (SELECT n.step FROM medians n)
  )
  INSERT INTO step_medians AS m (step, bucket) SELECT n.step, n.bucket FROM medians n ORDER BY n.step
  ON CONFLICT (step) DO UPDATE SET bucket = excluded.bucket WHERE m.bucket <> excluded.bucket`;

/** Remembers those of the last seven whole days in UTC. Any number of processes may do this at once. */
export async function rememberStepMedians(session: Session): Promise<void> {
  await session.query(REMEMBER);
}
