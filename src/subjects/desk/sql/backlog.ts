/**
 * Counts what waits for a reviewer, by age (docs/operators.md, "The lead's view and second looks"). Reads
 * `backlog_counts`, which triggers keep (sql/functions/desk/backlog.sql), and `review_items`.
 */
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';

/** What waits for a reviewer now. */
export interface Backlog {
  readonly waiting: number;
  readonly overdue: number;
  /** When the waiting application with the lowest number was registered; null: nothing waits. */
  readonly oldestAt: Date | null;
  /** One count for each bound of `upTo`, and a last one for what is older than all bounds. */
  readonly buckets: readonly number[];
}

/**
 * What became due within the present hour is counted by the index of due times, because the kept counts are about whole
 * hours.
 */
const BACKLOG = `
  WITH hours AS MATERIALIZED (
    SELECT c.created_hour, c.due_hour, sum(c.items) AS items FROM backlog_counts c GROUP BY 1, 2
  ), aged AS MATERIALIZED (
    SELECT cardinality($1::float8[]) - width_bucket(h.created_hour, a.bounds) AS bucket, sum(h.items) AS items
    FROM hours h CROSS JOIN (
      SELECT ARRAY(SELECT date_trunc('hour', now(), 'UTC') - b.hours * interval '1 hour' FROM unnest($1::float8[]) AS b(hours)
        ORDER BY b.hours DESC) AS bounds) AS a
    GROUP BY 1
  )
  SELECT coalesce((SELECT sum(h.items) FROM hours h), 0)::integer AS waiting,
    (coalesce((SELECT sum(h.items) FROM hours h WHERE h.due_hour < date_trunc('hour', now(), 'UTC')), 0) + (
      SELECT count(*) FROM review_items i
      WHERE i.due_at >= date_trunc('hour', now(), 'UTC') AND i.due_at <= now() AND i.state = 'waiting'))::integer AS overdue,
    (SELECT i.created_at FROM review_items i WHERE i.state = 'waiting' ORDER BY i.application_id LIMIT 1) AS "oldestAt",
    ARRAY(SELECT coalesce(sum(g.items), 0)::integer FROM generate_series(0, cardinality($1)) AS n
      LEFT JOIN aged g ON g.bucket = n GROUP BY n ORDER BY n) AS buckets`;

/**
 * Counts what waits by its age. `upTo`: the limits of age in hours, ascending, counted back from the start of the
 * present hour (UTC).
 */
export async function readBacklog(session: Session, upTo: readonly number[]): Promise<Backlog> {
  return onlyRow((await session.query<Backlog>(BACKLOG, [upTo])).rows);
}
