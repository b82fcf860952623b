/** Messages that wait for their contact window. */
import { type ApplicationId, toApplicationId } from '../domain/application/ids.ts';
import type { Database } from './database.ts';

const IS_WAITING = "m.status = 'queued' AND m.reason = 'contact_window'";
const READ = `
  SELECT w.application_id FROM waiting_messages w JOIN message_records m ON m.application_id = w.application_id
  WHERE w.status = 'queued' AND ${IS_WAITING}`;
const MAKE_DUE = `
  UPDATE message_records SET due_at = now(), reason = NULL, changed_at = now() WHERE application_id IN (
    SELECT m.application_id FROM message_records m WHERE m.application_id = ANY ($1::bigint[]) AND ${IS_WAITING}
    ORDER BY m.application_id FOR NO KEY UPDATE)`;

/** The applications whose messages wait for their contact window, in no order. */
export async function readWaitingForHours(database: Database): Promise<ApplicationId[]> {
  const { rows } = await database.query<{ application_id: string }>(READ);
  return rows.map(({ application_id }) => toApplicationId(application_id));
}

/** Makes those of the messages due that still wait for their contact window. */
export async function makeWaitingDue(database: Database, ids: readonly ApplicationId[]): Promise<void> {
  await database.query(MAKE_DUE, [ids]);
}
