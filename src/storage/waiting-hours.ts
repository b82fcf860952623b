/** Messages that wait for their contact window. */
import { type ApplicationId, toApplicationId } from '../domain/application/ids.ts';
import type { Database } from './database.ts';

const WAITING = "status = 'queued' AND reason = 'contact_window'";
const READ = `SELECT application_id FROM message_records WHERE ${WAITING}`;
const MAKE_DUE = `
  UPDATE message_records SET due_at = now(), reason = NULL, changed_at = now()
  WHERE ${WAITING} AND application_id = ANY ($1::bigint[])`;

export async function readWaitingForHours(database: Database): Promise<ApplicationId[]> {
  const { rows } = await database.query<{ application_id: string }>(READ);
  return rows.map(({ application_id }) => toApplicationId(application_id));
}

/** Makes those of the messages due that still wait for their contact window. */
export async function makeWaitingDue(database: Database, ids: readonly ApplicationId[]): Promise<void> {
  await database.query(MAKE_DUE, [ids]);
}
