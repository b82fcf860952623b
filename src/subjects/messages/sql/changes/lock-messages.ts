/** Locks of messages before a transaction changes them for several reasons (`migrations/0004_messages.sql`). */
import { type MessageId, partitionOf } from '../../../../domain/application/ids.ts';
import type { Transaction } from '../../../../ground/postgres/database.ts';
import { byPartitions } from '../../../applications/sql/partition-runs.ts';

const LOCK = 'SELECT lock_messages($1)';

/** Locks messages in the order of their ids. The transaction has locked the replies that it changes. */
export async function lockMessages(session: Transaction, ids: readonly MessageId[]): Promise<void> {
  for (const some of byPartitions(inOrder(ids), partitionOf)) await session.query(LOCK, [some]);
}

/** Each id once, in the order of the numbers. */
export function inOrder(ids: readonly MessageId[]): MessageId[] {
  return [...new Set(ids)].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}
