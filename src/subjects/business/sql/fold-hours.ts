/**
 * Adds the hours of old days up to one row a day, partner and currency, so that a picture of a year reads few rows
 * (docs/business.md, "How it is counted"). All reports are by whole days, so no number changes. Writes
 * `business_hours`.
 */
import type { Session } from '../../../ground/postgres/database.ts';
import { aged } from '../../../ground/postgres/table.ts';
import { AMOUNTS, COUNTS, REFUSALS } from '../rules/tally.ts';

/** Longer than the take-over of refusals looks back (`refusals.ts`): an hour that is folded is not taken over again. */
const FOLDED = "interval '40 days'";
/** Hours in one statement. */
const AT_ONCE = 5_000;
/** Statements of a turn: the first turns after an upgrade do not hold up the other jobs. */
const MOST = 10;

const NAMES = [...COUNTS, ...REFUSALS, ...AMOUNTS];
const DAY = "date_trunc('day', h.hour, 'UTC')";
const FOLD = `
  WITH old AS (
    DELETE FROM business_hours WHERE ctid = ANY (ARRAY(
      SELECT h.ctid FROM business_hours h
      WHERE h.hour < now() - ${FOLDED} AND h.hour <> ${DAY} AND ${aged('h.stored_ms', FOLDED)}
      ORDER BY h.hour LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED))
    RETURNING *
  ), folded AS (
    INSERT INTO business_hours AS b (hour, partner_id, currency, stored_ms, ${NAMES.join(', ')})
    SELECT ${DAY}, h.partner_id, h.currency, max(h.stored_ms), ${NAMES.map((name) => `sum(h.${name})`).join(', ')}
    FROM old h GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (hour, partner_id, currency) DO UPDATE SET stored_ms = greatest(b.stored_ms, excluded.stored_ms),
      ${NAMES.map((name) => `${name} = b.${name} + excluded.${name}`).join(', ')}
  )
  SELECT count(*)::integer AS taken FROM old`;

/** Folds the hours of days that are over for 40 days. Any number of processes may do this at once. */
export async function foldHours({ database }: { readonly database: Session }): Promise<void> {
  for (let statements = 0; statements < MOST; statements += 1) {
    const { rows } = await database.query<{ taken: number }>(FOLD);
    if ((rows[0]?.taken ?? 0) < AT_ONCE) return;
  }
}
