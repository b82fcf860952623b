/** Which replies a person may have read. */
import { type ApplicationId, toApplicationId } from '../../../applications/rules/ids.ts';
import type { Session } from '../../../postgres/database.ts';

const UNTOLD = `
  SELECT g.id FROM unnest($1::bigint[]) AS g(id) WHERE (
    SELECT r.status IN ('failed', 'cancelled') FROM replies r WHERE r.application_id = g.id ORDER BY r.turn DESC LIMIT 1)`;

/** Those of these applications whose newest reply will never arrive. */
export async function untoldApplications(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<ReadonlySet<ApplicationId>> {
  const { rows } = await session.query<{ id: string }>({
    name: 'untold_applications',
    text: UNTOLD,
    values: [ids],
  });
  return new Set(rows.map(({ id }) => toApplicationId(id)));
}

const TOLD = `
  SELECT status IN ('accepted', 'sent', 'delivered', 'read') OR delivered_at IS NOT NULL OR read_at IS NOT NULL AS is_told,
    status NOT IN ('failed', 'cancelled') AND NOT EXISTS (
      SELECT FROM replies n WHERE n.application_id = r.application_id AND n.turn > r.turn) AS is_newest
  FROM replies r WHERE application_id = $1 AND turn = $2`;

/**
 * What is known of the reply of a turn. `isTold`: the channel took it. `isNewest`: no later reply can be taken for it,
 * so that an answer to it proves that it came.
 */
export async function knownOfReply(
  session: Session,
  id: ApplicationId,
  turn: number,
): Promise<{ readonly isTold: boolean; readonly isNewest: boolean }> {
  const { rows } = await session.query<{ is_told: boolean; is_newest: boolean }>(TOLD, [id, turn]);
  return { isTold: rows[0]?.is_told ?? false, isNewest: rows[0]?.is_newest ?? false };
}
