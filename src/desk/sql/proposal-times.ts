/** Corrects the times of open proposals where the database's clock stepped (D39). */
import type { Database } from '../../postgres/database.ts';
import { onlyRow } from '../../postgres/only-row.ts';

/** So many rows are moved by a statement, because its time is bounded. */
const MOVED_AT_ONCE = 2_000;
/** Sums of times are made before the updates: Citus refuses them there. */
const MOVED = `
  times AS MATERIALIZED (
    SELECT h.application_id, h.now, h.due_at + h.step AS due_at, p.id AS proposal_id, p.apply_at + h.step AS apply_at
    FROM held h LEFT JOIN proposals p ON p.id = h.proposal_id
  ), moved AS (
    UPDATE open_proposals o SET stamped_at = t.now, due_at = t.due_at
    FROM times t WHERE o.application_id = t.application_id RETURNING o.proposal_id
  ), told AS (
    UPDATE proposals p SET apply_at = t.apply_at FROM times t WHERE p.id = t.proposal_id
  )
  SELECT count(*)::integer AS moved FROM moved`;
/** The clock went back: what was stamped later than now has its whole time again, and never waits for the old clock. */
const WENT_BACK = `
  WITH held AS MATERIALIZED (
    SELECT o.application_id, o.proposal_id, o.due_at, clock_timestamp() AS now, clock_timestamp() - o.stamped_at AS step
    FROM open_proposals o WHERE o.stamped_at > clock_timestamp()
    ORDER BY o.application_id LIMIT ${MOVED_AT_ONCE} FOR UPDATE
  ), ${MOVED}`;
/** The clock leapt on: what was stamped before keeps the time that it had left. Each leap moves a row once. */
const LEAPT = `
  WITH held AS MATERIALIZED (
    SELECT o.application_id, o.proposal_id, o.due_at, clock_timestamp() AS now, $2 * interval '1 millisecond' AS step
    FROM open_proposals o WHERE o.stamped_at <= $1 ORDER BY o.application_id LIMIT ${MOVED_AT_ONCE} FOR UPDATE
  ), ${MOVED}`;

/** Corrects the times that were written while the clock was ahead. */
export async function mendAhead(database: Database): Promise<void> {
  await moveAll(database, WENT_BACK, []);
}

/** Moves what was open at `before` on by a leap of the clock, so that the leap takes nobody's time to undo. */
export async function moveByLeap(database: Database, before: Date, leapMs: number): Promise<void> {
  await moveAll(database, LEAPT, [before, leapMs]);
}

async function moveAll(database: Database, text: string, values: readonly unknown[]): Promise<void> {
  let moved = MOVED_AT_ONCE;
  while (moved === MOVED_AT_ONCE)
    ({ moved } = onlyRow((await database.query<{ moved: number }>(text, [...values])).rows));
}
