/** Reminders: a template asks the applicant to go on with the conversation (`queue_reminder`). */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import type { Transaction } from '../../postgres/database.ts';

const QUEUE = 'SELECT queue_reminder($1) AS queued';

/**
 * Queues the reminder of an application. It goes the way of every message that the service begins: consent, contact
 * window, suppression, limits of the phone (D42), pauses. Returns false where the application is closed, the applicant
 * has not consented or has no phone, and where a reminder of the application waits or may be on its way.
 */
export async function queueReminder(session: Transaction, applicationId: ApplicationId): Promise<boolean> {
  const { rows } = await session.query<{ queued: boolean }>(QUEUE, [applicationId]);
  return rows[0]?.queued === true;
}
