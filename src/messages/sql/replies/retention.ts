/** Deletes the replies of applications that are gone, and of conversations that ended long ago. */
import { partitionOf, toApplicationId } from '../../../applications/rules/ids.ts';
import { byPartitions } from '../../../applications/sql/partition-runs.ts';
import type { Database, Session } from '../../../postgres/database.ts';

/** Applications that one turn looks at: a million of them are looked at within a day. */
const TURN = 5_000;
const NEXT = `
  SELECT DISTINCT application_id AS id FROM replies WHERE application_id > $1 ORDER BY application_id LIMIT ${TURN}`;
/** A statement of its own: on a cluster, a statement about a table of the coordinator may not ask other machines. */
const KEPT = 'SELECT a.id FROM applications_of($1::bigint[]) AS a';
/** A reply that is being sent is deleted in a later round. */
const DELETE = `
  DELETE FROM replies WHERE status <> 'sending' AND id = ANY (ARRAY(
    SELECT r.id FROM replies r WHERE r.application_id = ANY ($1::bigint[]) ORDER BY r.id FOR UPDATE))`;

/** Where the next turn on a database begins. A process that starts begins a new round. */
const AFTER = new WeakMap<Database, string>();

/** Looks at the next applications with replies, and deletes the replies of those that are gone. */
export async function forgetReplies(database: Database): Promise<void> {
  const { rows } = await database.query<{ id: string }>(NEXT, [AFTER.get(database) ?? '0']);
  AFTER.set(database, rows.length < TURN ? '0' : rows.at(-1)!.id);
  const ids = rows.map(({ id }) => id);
  for (const some of byPartitions(ids, (id) => partitionOf(toApplicationId(id)))) {
    const kept = new Set((await database.query<{ id: string }>(KEPT, [some])).rows.map(({ id }) => id));
    const gone = some.filter((id) => !kept.has(id));
    if (gone.length > 0) await database.query(DELETE, [gone]);
  }
}

/** A reply that waits or is being sent has work to do. */
const DELETE_TURNS = `
  DELETE FROM replies WHERE status NOT IN ('queued', 'sending') AND id = ANY (ARRAY(
    SELECT r.id FROM replies r JOIN unnest($1::bigint[], $2::integer[]) AS u(application_id, turn)
      ON r.application_id = u.application_id AND r.turn <= u.turn
    ORDER BY r.id FOR UPDATE OF r))`;

/** Deletes the replies of each application up to a turn, but for those that are not sent yet. */
export async function forgetTurns(
  session: Session,
  some: readonly { readonly applicationId: string; readonly turn: number }[],
): Promise<void> {
  const ids = some.map(({ applicationId }) => applicationId);
  await session.query(DELETE_TURNS, [ids, some.map(({ turn }) => turn)]);
}
