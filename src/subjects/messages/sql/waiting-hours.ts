/**
 * Counts messages that wait for a later time, and makes those due that wait for their contact window
 * (docs/contact-windows.md). Reads `waiting_messages`, and writes `message_records`.
 */
import { type MessageId, partitionOf } from '../../../domain/application/ids.ts';
import { type Database, onlyRow } from '../../../ground/postgres/database.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';
import { walkWaiting } from './waiting-messages.ts';

/** The most that are counted. This number also stands for more. To count them takes a few milliseconds. */
export const MOST_LATER = 50_000;

const LATER = `
  SELECT count(*)::integer AS messages, min(f.due_at) AS first, max(f.due_at) AS last FROM (
    SELECT w.due_at FROM waiting_messages w WHERE w.status = 'queued' AND w.due_at > now()
    ORDER BY w.due_at LIMIT ${MOST_LATER}) AS f`;

/** How many queued messages wait for a later time, and their times; null: there are none. */
export interface LaterMessages {
  readonly messages: number;
  readonly first: Date | null;
  readonly last: Date | null;
}

/**
 * Counts the queued messages that wait for a later time. Messages that only wait for their turn are due, and do not
 * count.
 */
export async function countLater(database: Database): Promise<LaterMessages> {
  return onlyRow((await database.query<LaterMessages>(LATER)).rows);
}

const IS_WAITING = "m.status = 'queued' AND m.reason = 'contact_window'";
const READ = `SELECT m.message_id AS id FROM message_records m WHERE m.message_id = ANY ($1::bigint[]) AND ${IS_WAITING}`;
const MAKE_DUE = `
  UPDATE message_records SET due_at = now(), reason = NULL, changed_at = now()
  WHERE message_id = ANY ($1::bigint[]) AND message_id = ANY (ARRAY(
    SELECT m.message_id FROM message_records m WHERE m.message_id = ANY ($1::bigint[]) AND ${IS_WAITING}
    ORDER BY m.message_id FOR NO KEY UPDATE))`;

/** The messages that wait for their contact window, in any order. */
export async function readWaitingForHours(database: Database): Promise<MessageId[]> {
  const waiting: MessageId[] = [];
  for await (const ids of walkWaiting(database, 'queued')) {
    const { rows } = await database.query<{ id: MessageId }>(READ, [ids]);
    waiting.push(...rows.map(({ id }) => id));
  }
  return waiting;
}

/** Makes those of these messages due that still wait for their contact window. */
export async function makeWaitingDue(database: Database, ids: readonly MessageId[]): Promise<void> {
  for (const some of byPartitions(ids, partitionOf)) await database.query(MAKE_DUE, [some]);
}
