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
  /** It is about to go out, or on its way to the channel. */
  readonly isWaiting: boolean;
  /** The channel took it: false for one that waits, failed, was cancelled or is uncertain. */
  readonly isTaken: boolean;
  /** When it reached its phone, by the channel's clock; null: the channel has not told so. */
  readonly arrivedAt: Date | null;
  /** When the channel took it, by the database's clock, in whole seconds as the channel's; null: it has not. */
  readonly sentAt: Date | null;
  /** No later reply can be taken for it. */
  readonly isNewest: boolean;
}

interface ToldRow {
  readonly is_waiting: boolean;
  readonly is_taken: boolean;
  readonly is_newest: boolean;
  readonly arrived_at: Date | null;
  readonly sent_at: Date | null;
}

const TOLD = `
  SELECT status IN ('queued', 'sending') AS is_waiting, least(delivered_at, read_at) AS arrived_at,
    date_trunc('second', sent_at) AS sent_at,
    NOT EXISTS (SELECT FROM replies n WHERE n.application_id = r.application_id AND n.turn > r.turn) AS is_newest,
    status IN ('accepted', 'sent', 'delivered', 'read') OR delivered_at IS NOT NULL OR read_at IS NOT NULL AS is_taken
  FROM replies r WHERE application_id = $1 AND turn = $2`;

/** The reply of a turn; null: there is none. */
export async function toldReply(
  session: Session,
  id: ApplicationId,
  turn: number,
): Promise<ToldReply | null> {
  const { rows } = await session.query<ToldRow>({
    name: 'told_reply',
    text: TOLD,
    values: [id, turn],
  });
  const [row] = rows;
  return row === undefined
    ? null
    : {
        ...{ isWaiting: row.is_waiting, isTaken: row.is_taken, isNewest: row.is_newest },
        ...{ arrivedAt: row.arrived_at, sentAt: row.sent_at },
      };
}
