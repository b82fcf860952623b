/**
 * What a turn of a conversation changes about messages and replies, beside its own reply: it cancels the message after
 * an approval (D40) if the chat tells it, queues reminders (`queue_reminders`), and cancels what waits for a wrong
 * person (D43, `sql/functions/messages/wrong-person.sql`).
 */
import { type ApplicationId, messageIdsOf, partitionOf } from '../../../../domain/application/ids.ts';
import type { Session, Transaction } from '../../../../ground/postgres/database.ts';
import { byPartitions } from '../../../applications/sql/partition-runs.ts';
import { inOrder } from './operator-changes.ts';

const FATES = `
  SELECT m.application_id::float8 AS id, CASE m.status WHEN 'queued' THEN 'queued' ELSE 'left' END AS fate
  FROM messages_of($1) AS m
  WHERE m.status NOT IN ('cancelled', 'failed')`;

/**
 * What became of the message after the approval of each of these applications. `queued`: it has not gone out. `left`:
 * the applicant has it, or may have it. An application without such a message is absent, and so is one whose message
 * failed or was cancelled.
 */
export async function approvalMessages(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<ReadonlyMap<ApplicationId, 'queued' | 'left'>> {
  const fates = new Map<ApplicationId, 'queued' | 'left'>();
  for (const some of byPartitions(ids, partitionOf)) {
    const messages = some.map((id) => messageIdsOf(id)[1]);
    const { rows } = await session.query<{ id: ApplicationId; fate: 'queued' | 'left' }>(FATES, [messages]);
    for (const { id, fate } of rows) fates.set(id, fate);
  }
  return fates;
}

const CANCEL_APPROVALS = 'SELECT cancel_approvals($1)';

/**
 * Cancels the waiting messages after the approval of these applications, because the chat tells it in this transaction.
 * Throws a conflict (`againAfterConflict`) if one has left since it was read.
 */
export async function cancelApprovals(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  for (const some of byPartitions(ids, partitionOf)) await session.query(CANCEL_APPROVALS, [some]);
}

const QUEUE_REMINDERS = 'SELECT queue_reminders($1)::float8 AS id';

/**
 * Queues the reminders of applications. A reminder is treated as every message that the service begins: consent,
 * contact window, suppression, limits of the phone (D42), pauses. Returns the applications whose reminder is queued
 * now. Absent are closed applications, those without consent or a phone, and those whose reminder already waits or may
 * be on its way.
 */
export async function queueReminders(
  session: Transaction,
  ids: readonly ApplicationId[],
): Promise<ApplicationId[]> {
  const queued: ApplicationId[] = [];
  for (const some of byPartitions(ids, partitionOf)) {
    const { rows } = await session.query<{ id: ApplicationId }>(QUEUE_REMINDERS, [some]);
    queued.push(...rows.map(({ id }) => id));
  }
  return queued;
}

const CANCEL_REPLIES = 'SELECT cancel_replies_for_wrong_person($1)';
const CANCEL_MESSAGES = 'SELECT cancel_messages_for_wrong_person($1)';

/** Cancels the waiting replies of applications whose phone is a wrong person's. The caller has noted that (D43). */
export async function cancelRepliesForWrongPerson(
  session: Transaction,
  ids: readonly ApplicationId[],
): Promise<void> {
  if (ids.length > 0) await session.query(CANCEL_REPLIES, [ids]);
}

/** Cancels the waiting messages of such applications. They come after the replies, by the order of locks. */
export async function cancelMessagesForWrongPerson(
  session: Transaction,
  ids: readonly ApplicationId[],
): Promise<void> {
  const messages = inOrder(ids.flatMap(messageIdsOf));
  for (const some of byPartitions(messages, partitionOf)) await session.query(CANCEL_MESSAGES, [some]);
}
