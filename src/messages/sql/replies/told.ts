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

/** What is known of the reply of a turn. */
export interface ToldReply {
  /**
   * `queued`: it has not gone out. `sending`: the channel may have it already. `taken`: the channel took it. `lost`: it
   * failed, was cancelled, or is uncertain.
   */
  readonly fate: 'queued' | 'sending' | 'taken' | 'lost';
  /** When it reached its phone, by the channel's clock; null: the channel has not told so. */
  readonly arrivedAt: Date | null;
  /** When the channel took it, by the database's clock, in whole seconds as the channel's; null: it has not. */
  readonly sentAt: Date | null;
  /** No later reply can be taken for it. */
  readonly isNewest: boolean;
}

const TOLD = `
  SELECT CASE
      WHEN delivered_at IS NOT NULL OR read_at IS NOT NULL OR status IN ('accepted', 'sent', 'delivered', 'read')
        THEN 'taken'
      WHEN status IN ('queued', 'sending') THEN status::text ELSE 'lost' END AS fate,
    least(delivered_at, read_at) AS "arrivedAt", date_trunc('second', sent_at) AS "sentAt",
    NOT EXISTS (SELECT FROM replies n WHERE n.application_id = r.application_id AND n.turn > r.turn) AS "isNewest"
  FROM replies r WHERE application_id = $1 AND turn = $2`;

/** The reply of a turn; null: there is none. */
export async function toldReply(
  session: Session,
  id: ApplicationId,
  turn: number,
): Promise<ToldReply | null> {
  const { rows } = await session.query<ToldReply>({ name: 'told_reply', text: TOLD, values: [id, turn] });
  return rows[0] ?? null;
}
