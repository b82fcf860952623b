/**
 * Reads what waits for reviewers, from the counts that are kept and by indexes. What stands before the first one that
 * waits (proposed or pended) is passed over up to a bound, so that a scrape costs the same however much waits.
 */
import type { Database } from '../../postgres/database.ts';
import { onlyRow } from '../../postgres/only-row.ts';
import type { ReviewFacts } from '../rules/store-facts.ts';

const MOST = 10_000;

/** The first item that waits in an order; NULL also where more than `MOST` others stand before it. */
const first = (column: string, order: string) => `(
    SELECT f.${column} FROM (
      SELECT i.${column}, i.state FROM review_items i ORDER BY ${order} LIMIT ${MOST}) AS f
    WHERE f.state = 'waiting' LIMIT 1)`;
const HOUR = "(SELECT date_trunc('hour', now(), 'UTC'))";
/** A clock that has stepped back makes no negative age. */
const since = (time: string) =>
  `greatest(coalesce(extract(epoch FROM now() - ${time}), 0), 0)::double precision`;

const REVIEW = `
  WITH kept AS MATERIALIZED (
    SELECT c.created_hour, c.due_hour, sum(c.items) AS items FROM backlog_counts c
    GROUP BY 1, 2 HAVING sum(c.items) > 0
  ), late AS MATERIALIZED (
    SELECT count(*) AS items FROM (
      SELECT FROM review_items i WHERE i.due_at >= ${HOUR} AND i.due_at <= now() AND i.state = 'waiting' LIMIT ${MOST}) AS l
  ), waiting AS MATERIALIZED (
    SELECT coalesce(sum(k.items), 0) AS items, min(k.created_hour) AS hour,
      coalesce(sum(k.items) FILTER (WHERE k.due_hour < ${HOUR}), 0) AS overdue, min(k.due_hour) AS due_hour
    FROM kept k
  )
  SELECT w.items::integer AS waiting, (w.overdue + l.items)::integer AS overdue,
    greatest(w.items - (
      SELECT count(*) FROM review_items i
      WHERE i.claimed_by IS NOT NULL AND i.state = 'waiting' AND is_claimed(i.claimed_until, now())), 0)::integer AS unclaimed,
    ${since(`CASE WHEN w.items > 0 THEN coalesce(${first('created_at', 'i.application_id')}, w.hour) END`)} AS "oldestS",
    CASE WHEN w.overdue + l.items > 0
      THEN ${since(`coalesce(${first('due_at', 'i.due_at, i.application_id')}, w.due_hour)`)} ELSE 0 END AS "overdueS",
    (SELECT count(*) FROM (
      SELECT FROM proposals p
      WHERE p.state = 'proposed' AND p.needs_second IS NOT NULL AND p.confirmed_at IS NULL LIMIT ${MOST}) AS u)::integer
      AS unconfirmed,
    ${since(`(
      SELECT p.created_at FROM proposals p
      WHERE p.state = 'proposed' AND p.needs_second IS NOT NULL AND p.confirmed_at IS NULL ORDER BY p.id LIMIT 1)`)}
      AS "unconfirmedS"
  FROM waiting w CROSS JOIN late l`;

/** Reads the facts. */
export async function readReviewFacts(database: Database): Promise<ReviewFacts> {
  return onlyRow((await database.query<ReviewFacts & Record<string, unknown>>(REVIEW)).rows);
}
