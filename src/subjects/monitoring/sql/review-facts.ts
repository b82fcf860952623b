/**
 * Reads what waits for reviewers, from the counts that are kept and by indexes. What is proposed and stands before the
 * first one that waits is passed over up to a bound, so that a scrape costs the same however much waits. What is pended
 * was pended by hand, one by one: there is little of it.
 */
import type { Database } from '../../../ground/postgres/database.ts';
import { onlyRow } from '../../../ground/postgres/only-row.ts';
import type { ReviewFacts } from '../rules/store-facts.ts';

const MOST = 2_000;

/** The time of the first item that waits in an order; behind `MOST` that do not, about that of the last of these. */
const firstWaiting = (column: string, order: string) => `(
    SELECT coalesce(min(f.${column}) FILTER (WHERE f.state = 'waiting'), max(f.${column})) FROM (
      SELECT i.${column}, i.state FROM review_items i WHERE i.due_at < 'infinity' ORDER BY ${order} LIMIT ${MOST}) AS f)`;
const HOUR = "(SELECT date_trunc('hour', now(), 'UTC'))";
/** A clock that has stepped back makes no negative age. */
const since = (time: string) =>
  `greatest(coalesce(extract(epoch FROM now() - ${time}), 0), 0)::double precision`;

const REVIEW = `
  WITH late AS MATERIALIZED (
    SELECT count(*) AS items FROM (
      SELECT FROM review_items i WHERE i.due_at >= ${HOUR} AND i.due_at <= now() AND i.state = 'waiting' LIMIT ${MOST}) AS l
  ), waiting AS MATERIALIZED (
    SELECT coalesce(sum(c.items), 0) AS items, coalesce(sum(c.items) FILTER (WHERE c.due_hour < ${HOUR}), 0) AS overdue
    FROM backlog_counts c
  )
  SELECT w.items::integer AS waiting, (w.overdue + l.items)::integer AS overdue,
    greatest(w.items - (
      SELECT count(*) FROM review_items i
      WHERE i.claimed_by IS NOT NULL AND i.state = 'waiting' AND is_claimed(i.claimed_until, now())), 0)::integer AS unclaimed,
    ${since(`CASE WHEN w.items > 0 THEN ${firstWaiting('created_at', 'i.application_id')} END`)} AS "oldestS",
    CASE WHEN w.overdue + l.items > 0
      THEN ${since(`${firstWaiting('due_at', 'i.due_at, i.application_id')}`)} ELSE 0 END AS "overdueS",
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
