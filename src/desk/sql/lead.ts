/** What a lead looks at: decisions and second looks. */
import type { ReviewAction } from '../../applications/rules/lifecycle.ts';
import type { ReasonCode } from '../../applications/rules/reason-codes.ts';
import type { Session } from '../../postgres/database.ts';
import { onlyRow } from '../../postgres/only-row.ts';

/** The hours of the last $1 days with the present one; one in the future was written while the clock was ahead. */
const LATELY = `
  h.hour BETWEEN date_trunc('hour', now(), 'UTC') - ($1 * 24 - 1) * interval '1 hour' AND now()`;

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

/** The decisions of an operator with one act and reason code, and how many of them were against the score. */
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
  SELECT (SELECT count(*)::integer FROM second_looks w WHERE w.looked_at IS NULL) AS waiting,
    count(*)::integer AS looked, count(*) FILTER (WHERE NOT l.agrees)::integer AS disagreed
  FROM second_looks l WHERE l.looked_at BETWEEN now() - $1 * interval '1 day' AND now()`;

/** The second looks: how many decisions wait, and what was said within the last `days`. */
export async function countLooks(
  session: Session,
  days: number,
): Promise<{ readonly waiting: number; readonly looked: number; readonly disagreed: number }> {
  return onlyRow(
    (await session.query<{ waiting: number; looked: number; disagreed: number }>(LOOKS, [days])).rows,
  );
}
