/** Reminders: a template asks the applicant to go on with the conversation (`queue_reminders`). */
import { type ApplicationId, partitionOf, toApplicationId } from '../../../domain/application/ids.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';

const QUEUE = 'SELECT queue_reminders($1) AS id';

/**
 * Queues the reminders of applications. They go the way of every message that the service begins: consent, contact
 * window, suppression, limits of the phone (D42), pauses. Returns the applications whose reminder is queued now; absent
 * are those that are closed, whose applicant has not consented or has no phone, and those with a reminder that waits or
 * may be on its way.
 */
export async function queueReminders(
  session: Transaction,
  ids: readonly ApplicationId[],
): Promise<ApplicationId[]> {
  const queued: ApplicationId[] = [];
  for (const some of byPartitions(ids, partitionOf)) {
    const { rows } = await session.query<{ id: string }>(QUEUE, [some]);
    queued.push(...rows.map(({ id }) => toApplicationId(id)));
  }
  return queued;
}
