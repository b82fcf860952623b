/** Conversations stay as long as their applications; an erasure takes them at once. */
import { type ApplicationId, partitionOf, toApplicationId } from '../../../domain/application/ids.ts';
import type { Database, Transaction } from '../../../ground/postgres/database.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';

const LOCK = `
  SELECT FROM conversations c WHERE c.application_id = ANY ($1::bigint[]) OR c.phone_index = ANY ($2::bigint[])
  ORDER BY c.id FOR UPDATE`;

/**
 * Locks the conversations of these applications and of these phones (the decimal text of a bigint). A turn locks its
 * conversation before its application; so must everything else that waits for both.
 */
export async function lockConversations(
  session: Transaction,
  ids: readonly ApplicationId[],
  phones: readonly string[],
): Promise<void> {
  await session.query(LOCK, [ids, phones]);
}

const ERASE = 'SELECT erase_conversations($1, $2)';

/** Deletes the conversations of these applications and of these phones (the decimal text of a bigint). */
export async function eraseConversations(
  session: Transaction,
  ids: readonly ApplicationId[],
  phones: readonly string[],
): Promise<void> {
  await session.query(ERASE, [ids, phones]);
}

/** Applications that one turn looks at. */
const TURN = 5_000;
const NEXT = `
  SELECT DISTINCT application_id AS id FROM conversations WHERE application_id > $1
  ORDER BY application_id LIMIT ${TURN}`;
/** A statement of its own: on a cluster, a statement about a table of the coordinator may not ask other machines. */
const KEPT = 'SELECT a.id FROM applications_of($1::bigint[]) AS a';

/** Where the next turn on a database begins. A process that starts begins a new round. */
const AFTER = new WeakMap<Database, string>();

/** Looks at the next applications with conversations, and deletes the conversations of those that are gone. */
export async function forgetConversations(database: Database): Promise<void> {
  const { rows } = await database.query<{ id: string }>(NEXT, [AFTER.get(database) ?? '0']);
  AFTER.set(database, rows.length < TURN ? '0' : rows.at(-1)!.id);
  const ids = rows.map(({ id }) => id);
  for (const some of byPartitions(ids, (id) => partitionOf(toApplicationId(id)))) {
    const kept = new Set((await database.query<{ id: string }>(KEPT, [some])).rows.map(({ id }) => id));
    const gone = some.filter((id) => !kept.has(id));
    if (gone.length > 0) await database.query(ERASE, [gone, []]);
  }
}

const MEND = 'SELECT mend_conversations() AS mended';

/** Corrects the times that were written while the database's clock was ahead (D39). */
export async function mendConversations(database: Database): Promise<void> {
  for (;;) {
    const { rows } = await database.query<{ mended: string }>(MEND);
    if (Number(rows[0]?.mended ?? 0) < 1_000) return;
  }
}
