/**
 * Deletes and mends conversations: after an erasure, and after the database's clock was ahead (D39; docs/subject.md,
 * "Erase"). Locks `conversations`, and calls `erase_conversations` and `mend_conversations`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Database, Transaction } from '../../../ground/postgres/database.ts';

const LOCK = `
  SELECT FROM conversations c WHERE c.application_id = ANY ($1::bigint[]) OR c.phone_index = ANY ($2::bigint[])
  ORDER BY c.id FOR UPDATE`;

/**
 * Locks the conversations of these applications and of these phones (the decimal text of a bigint). A turn locks its
 * conversation before its application. Everything else that locks both must use the same order.
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

const MEND = 'SELECT mend_conversations() AS mended';

/** Corrects the times that were written while the database's clock was ahead (D39). */
export async function mendConversations(database: Database): Promise<void> {
  for (;;) {
    const { rows } = await database.query<{ mended: string }>(MEND);
    if (Number(rows[0]?.mended ?? 0) < 1_000) return;
  }
}
