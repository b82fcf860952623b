/**
 * Which changes operators may make to messages, in which statuses, and the locks that a change takes first
 * (docs/messages.md, "What moves a message"). Has parts of statements about `message_records`, and calls
 * `lock_messages`.
 */
import { type MessageId, partitionOf } from '../../../../domain/application/ids.ts';
import type { MessageStatus } from '../../../../domain/message/notify.ts';
import type { Transaction } from '../../../../ground/postgres/database.ts';
import { byPartitions } from '../../../applications/sql/partition-runs.ts';

/** The changes that operators may make to messages, and the statuses in which each is allowed. */
export const CHANGEABLE_STATUSES = {
  retry: ['failed', 'uncertain'],
  cancel: ['queued', 'uncertain'],
} as const satisfies Readonly<Record<string, readonly MessageStatus[]>>;
export type MessageChange = keyof typeof CHANGEABLE_STATUSES;
export type ChangeableStatus = (typeof CHANGEABLE_STATUSES)[MessageChange][number];

/** An operator may change an uncertain message once the channel will no longer settle it. */
export const IS_READY = "(status <> 'uncertain' OR due_at <= now())";

/** What each change sets in `message_records`. */
export const CHANGE: Readonly<Record<MessageChange, string>> = {
  retry: "status = 'queued', reason = 'operator', tries = 0, due_at = now(), changed_at = now()",
  cancel: "status = 'cancelled', reason = 'operator', due_at = NULL, changed_at = now()",
};

// Locks messages before a transaction changes them for several reasons (`migrations/0004_messages.sql`).

const LOCK = 'SELECT lock_messages($1)';

/** Locks messages in the order of their ids. The transaction has already locked the replies that it changes. */
export async function lockMessages(session: Transaction, ids: readonly MessageId[]): Promise<void> {
  for (const some of byPartitions(inOrder(ids), partitionOf)) await session.query(LOCK, [some]);
}

/** Each id once, in the order of the numbers. */
export function inOrder(ids: readonly MessageId[]): MessageId[] {
  return [...new Set(ids)].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}
