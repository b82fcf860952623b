/** The message after an approval (D40), whose place a reply of the chat may take. */
import {
  type ApplicationId,
  messageIdsOf,
  partitionOf,
  toApplicationId,
} from '../../../../domain/application/ids.ts';
import type { Session, Transaction } from '../../../../ground/postgres/database.ts';
import { byPartitions } from '../../../applications/sql/partition-runs.ts';

const FATES = `
  SELECT m.application_id, CASE m.status WHEN 'queued' THEN 'queued' ELSE 'left' END AS fate FROM messages_of($1) AS m
  WHERE m.status NOT IN ('cancelled', 'failed')`;

/**
 * What became of the message after the approval of each of these applications. `queued`: it has not gone out. `left`:
 * the applicant has it, or may have it. Absent are those without one, and those whose message failed or is cancelled.
 */
export async function approvalMessages(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<ReadonlyMap<ApplicationId, 'queued' | 'left'>> {
  const fates = new Map<ApplicationId, 'queued' | 'left'>();
  for (const some of byPartitions(ids, partitionOf)) {
    const messages = some.map((id) => messageIdsOf(id)[1]);
    const { rows } = await session.query<{ application_id: string; fate: 'queued' | 'left' }>(FATES, [
      messages,
    ]);
    for (const { application_id, fate } of rows) fates.set(toApplicationId(application_id), fate);
  }
  return fates;
}

const CANCEL = 'SELECT cancel_approvals($1)';

/**
 * Cancels the messages after the approval of these applications that wait: the chat tells it in this transaction.
 * Throws a conflict (`againAfterConflict`) where one has left since it was read.
 */
export async function cancelApprovals(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  for (const some of byPartitions(ids, partitionOf)) await session.query(CANCEL, [some]);
}
