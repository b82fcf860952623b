/** Which replies a person may have read. */
import type { ApplicationId } from '../../../../domain/application/ids.ts';
import type { ToldReply } from '../../../../domain/message/reply.ts';
import type { Session } from '../../../../ground/postgres/database.ts';

const TOLD = 'SELECT t.fate, t.arrived_at AS "arrivedAt" FROM told_replies($1, ARRAY[$2::integer]) AS t';

/** The reply of a turn; null: there is none. */
export async function toldReply(
  session: Session,
  id: ApplicationId,
  turn: number,
): Promise<ToldReply | null> {
  const { rows } = await session.query<ToldReply>({ name: 'told_reply', text: TOLD, values: [id, turn] });
  return rows[0] ?? null;
}
