/**
 * Remembers the median times to the steps of the business, so that a scrape reads a row a step (docs/monitoring.md).
 * Reads `business_waits`, writes `step_medians`.
 */
import type { Session } from '../../../ground/postgres/database.ts';

/** The bucket in which the half of the applications lies. */
const MEDIANS = `
  SELECT DISTINCT ON (a.step) a.step, a.bucket
  FROM (
    SELECT c.step, c.bucket, sum(c.times) OVER (PARTITION BY c.step) AS times,
      sum(c.times) OVER (PARTITION BY c.step ORDER BY c.bucket) AS up_to
    FROM (
      SELECT b.step, b.bucket, sum(b.times) AS times FROM business_waits b
      WHERE b.per = 'day' AND b.day >= (now() AT TIME ZONE 'UTC')::date - 7 AND b.day < (now() AT TIME ZONE 'UTC')::date
      GROUP BY b.step, b.bucket) AS c) AS a
  WHERE a.up_to * 2 >= a.times ORDER BY a.step, a.bucket`;

const PUT = `
  INSERT INTO step_medians (step, bucket) SELECT u.step, u.bucket
  FROM unnest($1::text[], $2::smallint[]) AS u(step, bucket) ORDER BY u.step
  ON CONFLICT (step) DO UPDATE SET bucket = excluded.bucket`;

const DROP = 'DELETE FROM step_medians m WHERE m.step <> ALL ($1::text[])';

/**
 * Remembers those of the last seven whole days in UTC; a step that nobody took has none. Any number of processes may do
 * this at once.
 */
export async function rememberStepMedians(session: Session): Promise<void> {
  const { rows } = await session.query<{ step: string; bucket: number }>(MEDIANS);
  const steps = rows.map(({ step }) => step);
  await session.query(PUT, [steps, rows.map(({ bucket }) => bucket)]);
  await session.query(DROP, [steps]);
}
