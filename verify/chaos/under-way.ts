/** Looks into the store for the messages whose send has begun and has no end yet. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { UnderWay } from '../history/history.ts';
import type { Recorder } from './recorder.ts';
import type { Store } from './store/store.ts';

const UNDER_WAY = `
  SELECT g.message_id, g.application_id FROM begun_messages g
  UNION SELECT w.message_id, application_of_message(w.message_id) FROM waiting_messages w WHERE w.status = 'uncertain'`;
const OF_APPLICATION = `SELECT u.message_id::text AS id FROM (${UNDER_WAY}) AS u WHERE u.application_id = $1`;
const TO_PHONE = `
  WITH u AS MATERIALIZED (${UNDER_WAY})
  SELECT u.message_id::text AS id FROM u
  JOIN applications_of(ARRAY(SELECT application_id FROM u)) AS a ON a.id = u.application_id
  WHERE a.phone_index = $1`;
const AGAIN_MS = 100;

/** Of an application, or to a phone by its blind index. Waits while the database is away. */
export async function lookUnderWay(
  store: Store,
  recorder: Recorder,
  of: { readonly applicationId: number } | { readonly phoneIndex: string },
): Promise<UnderWay> {
  const [text, value] = 'phoneIndex' in of ? [TO_PHONE, of.phoneIndex] : [OF_APPLICATION, of.applicationId];
  for (;;) {
    const found = await store.database.query<{ id: string }>(text, [value]).catch(() => null);
    if (found !== null) return { atMs: recorder.nowMs(), messageIds: found.rows.map(({ id }) => id) };
    await sleep(AGAIN_MS);
  }
}
