/**
 * Reads what the lead's view shows about decisions and second looks (docs/operators.md, "The lead's view and second
 * looks"). Reads `decision_hours` and `second_looks`.
 */
import type { ReviewAction } from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';

/**
 * The hours of the last $1 days, with the present one. An hour in the future was written while the clock was ahead. The
 * bounds are subqueries, so they are computed once and not for each row: that takes half the time.
 */
const LATELY = `
  h.hour >= (SELECT date_trunc('hour', now(), 'UTC') - ($1 * 24 - 1) * interval '1 hour') AND h.hour <= (SELECT now())`;

/** The decisions of an hour. */
export interface DecidedHour {
  readonly hour: Date;
  readonly approved: number;
  readonly rejected: number;
  readonly disbursed: number;
}

const OF_ACT = (act: ReviewAction, name: string) =>
  `coalesce(sum(h.decisions) FILTER (WHERE h.act = '${act}'), 0)::integer AS ${name}`;
const HOURS = `
  SELECT h.hour, ${OF_ACT('approve', 'approved')}, ${OF_ACT('reject', 'rejected')}, ${OF_ACT('disburse', 'disbursed')}
  FROM decision_hours h WHERE ${LATELY} GROUP BY h.hour ORDER BY h.hour`;

/** The hours of the last `days` with a decision, the oldest first. */
export async function decidedHours(session: Session, days: number): Promise<DecidedHour[]> {
  return (await session.query<DecidedHour>(HOURS, [days])).rows;
}

/** How many decisions an operator made with one act and reason code, and how many of them were against the score. */
export interface DecidedBy {
  readonly id: number;
  readonly login: string;
  readonly act: ReviewAction;
  readonly reasonCode: ReasonCode;
  readonly decisions: number;
  readonly againstScore: number;
}

const BY = `
  SELECT o.id, o.login, s.act, s.reason_code AS "reasonCode", s.decisions, s.against AS "againstScore"
  FROM (
    SELECT h.operator_id, h.act, h.reason_code, sum(h.decisions)::integer AS decisions,
      coalesce(sum(h.decisions) FILTER (WHERE h.is_against_score), 0)::integer AS against
    FROM decision_hours h WHERE ${LATELY} GROUP BY h.operator_id, h.act, h.reason_code) AS s
  JOIN operators o ON o.id = s.operator_id ORDER BY o.id, s.act, s.reason_code`;

/** The decisions of the last `days` by operator, act and reason code. */
export async function decidedBy(session: Session, days: number): Promise<DecidedBy[]> {
  return (await session.query<DecidedBy>(BY, [days])).rows;
}

const LOOKS = `
  SELECT w.waiting, w.own, l.looked, l.disagreed
  FROM (
    SELECT count(*)::integer AS waiting,
      count(*) FILTER (WHERE s.maker_id = $2 OR s.checker_id = $2)::integer AS own
    FROM second_looks s WHERE s.looked_at IS NULL) AS w, (
    SELECT count(*)::integer AS looked, count(*) FILTER (WHERE NOT s.agrees)::integer AS disagreed
    FROM second_looks s WHERE s.looked_at BETWEEN now() - $1 * interval '1 day' AND now()) AS l`;

/** The second looks: how many decisions wait, and what was said about others within the last days. */
export interface CountedLooks {
  readonly waiting: number;
  /** How many wait for another admin, because the asking one made or confirmed the decision. */
  readonly own: number;
  readonly looked: number;
  readonly disagreed: number;
}

/** The second looks, as this admin is told about them. */
export async function countLooks(session: Session, days: number, adminId: number): Promise<CountedLooks> {
  return onlyRow((await session.query<CountedLooks & Record<string, unknown>>(LOOKS, [days, adminId])).rows);
}
