/** Which replies a person may have read. */
import { type ApplicationId, toApplicationId } from '../../../../domain/application/ids.ts';
import type { ToldReply } from '../../../../domain/message/reply.ts';
import type { Session } from '../../../../ground/postgres/database.ts';

/** Only turns of conversations, which begin with 1: others answer persons without one. */
const UNTOLD = `
  SELECT g.id, CASE n.status WHEN 'uncertain' THEN 'maybe' ELSE 'never' END AS untold
  FROM unnest($1::bigint[]) AS g(id) CROSS JOIN LATERAL (
    SELECT r.status FROM replies r WHERE r.application_id = g.id AND r.turn > 0 ORDER BY r.turn DESC LIMIT 1) AS n
  WHERE n.status IN ('failed', 'cancelled', 'uncertain')`;

/** Those of these applications whose newest reply will never arrive, or may not have (`maybe`). */
export async function untoldApplications(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<ReadonlyMap<ApplicationId, 'never' | 'maybe'>> {
  const { rows } = await session.query<{ id: string; untold: 'never' | 'maybe' }>({
    name: 'untold_applications',
    text: UNTOLD,
    values: [ids],
  });
  return new Map(rows.map(({ id, untold }) => [toApplicationId(id), untold]));
}

const TOLD = `
  SELECT CASE
      WHEN delivered_at IS NOT NULL OR read_at IS NOT NULL OR status IN ('accepted', 'sent', 'delivered', 'read')
        THEN 'taken'
      WHEN status IN ('queued', 'sending') THEN status::text ELSE 'lost' END AS fate,
    least(delivered_at, read_at) AS "arrivedAt"
  FROM replies WHERE application_id = $1 AND turn = $2`;

/** The reply of a turn; null: there is none. */
export async function toldReply(
  session: Session,
  id: ApplicationId,
  turn: number,
): Promise<ToldReply | null> {
  const { rows } = await session.query<ToldReply>({ name: 'told_reply', text: TOLD, values: [id, turn] });
  return rows[0] ?? null;
}
