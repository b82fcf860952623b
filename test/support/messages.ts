/** Changes to messages behind the service's back, wherever the store keeps them. */
import assert from 'node:assert/strict';
import type { BlindIndex, MessageId } from '../../src/domain/application/ids.ts';
import type { MessageStatus } from '../../src/domain/message/notify.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { toBigint } from '../../src/seal/blind-indexes.ts';
import { shifted } from './shifted.ts';

/** An absent part stays as it is. */
export interface MessageChanges {
  readonly status?: MessageStatus;
  readonly attempts?: number;
  /** Equal to `attempts` if absent. */
  readonly tries?: number;
  readonly channelMessageId?: BlindIndex<'channel_message_id'> | null;
  readonly reason?: string | null;
  /** Milliseconds from now until the message is due, counts as lost, or may be settled. */
  readonly dueInMs?: number;
}

const CHANGE = `
  UPDATE message_records SET status = coalesce($2, status), attempts = coalesce($3, attempts), tries = coalesce($9, $3, tries),
    channel_message_id = CASE WHEN $4 THEN $5 ELSE channel_message_id END,
    reason = CASE WHEN $6 THEN $7 ELSE reason END,
    due_at = coalesce($8::timestamptz, due_at, $10::timestamptz), changed_at = now()
  WHERE message_id = ANY ($1::bigint[])`;
/** A statement of its own, because on a cluster an UPDATE computes no times. */
const TIMES = "SELECT (now() + $1 * interval '1 millisecond')::text AS due, now()::text AS now";
const LEASE = `
  INSERT INTO leases (begun_at, lost_at, ids, types, attempts)
  SELECT now(), due_at, ARRAY[message_id], left(type::text, 1), ARRAY[attempts] FROM message_records
  WHERE message_id = ANY ($1::bigint[]) AND status = 'sending'`;

export async function setMessages(
  database: Database,
  ids: readonly (number | MessageId | undefined)[],
  { status, attempts, tries, channelMessageId, reason, dueInMs }: MessageChanges,
): Promise<void> {
  await database.query('SELECT make_messages($1)', [ids]);
  const { rows } = await database.query<{ due: string | null; now: string }>(TIMES, [dueInMs ?? null]);
  await database.query(CHANGE, [
    ids,
    status ?? null,
    attempts ?? null,
    channelMessageId !== undefined,
    channelMessageId ? toBigint(channelMessageId) : null,
    reason !== undefined,
    reason ?? null,
    rows[0]?.due,
    tries ?? null,
    rows[0]?.now,
  ]);
  await database.query(LEASE, [ids]);
}

/** The same for all messages with one of these statuses. */
export async function setAll(
  database: Database,
  from: readonly MessageStatus[],
  changes: MessageChanges,
): Promise<void> {
  const text = 'SELECT message_id AS id FROM messages WHERE status = ANY ($1::message_status[])';
  const { rows } = await database.query<{ id: string }>(text, [from]);
  const ids = rows.map(({ id }) => Number(id));
  await setMessages(database, ids, changes);
}

const MAKE_DUE = `
  UPDATE message_records SET due_at = now() - interval '1 second'
  WHERE status = 'queued' AND ($1::bigint[] IS NULL OR message_id = ANY ($1))`;

/** Makes queued messages due now; all of them without ids. */
export async function makeDue(database: Database, ...ids: (number | undefined)[]): Promise<void> {
  await database.query(MAKE_DUE, [ids.length > 0 ? ids : null]);
}

/** Makes messages that are being sent count as lost from now on. */
export async function endLeases(database: Database): Promise<void> {
  await database.query('UPDATE leases SET lost_at = now()');
}

const earlier = (column: string) => shifted(column, "-$2::float8 * interval '1 millisecond'");
const PASS = `
  WITH leased AS (UPDATE leases SET lost_at = ${earlier('lost_at')} WHERE ids && $1::bigint[]),
    known AS (
      UPDATE recipients SET sent_at = ${earlier('sent_at')}, answered_at = ${earlier('answered_at')}
      WHERE message_id = ANY ($1))
  UPDATE message_records SET due_at = ${earlier('due_at')} WHERE message_id = ANY ($1)`;

/** Moves the times of messages and recipients as if this much time had passed. */
export async function passTime(database: Database, ids: readonly number[], ms: number): Promise<void> {
  await database.query(PASS, [ids, ms]);
}

/** Sets the time of the channel's last answer for every phone to this long ago. */
export async function answeredBefore(database: Database, ms: number): Promise<void> {
  await database.query("UPDATE recipients SET answered_at = now() - $1 * interval '1 millisecond'", [ms]);
}

const OUT_OF_STEP = `
  SELECT 'counted' AS what, status, sum(counted - there) AS by FROM (
    SELECT status, count AS counted, 0 AS there FROM message_counts UNION ALL SELECT status, 0, 1 FROM messages) AS c
  GROUP BY status HAVING sum(counted) <> sum(there)
  UNION ALL
  SELECT 'waiting', status, count(*) FROM (
    SELECT status, message_id FROM waiting_messages
    FULL JOIN (SELECT status, message_id, due_at FROM message_records WHERE is_waiting(status)) AS r
    USING (status, message_id)
    WHERE waiting_messages.message_id IS NULL OR r.message_id IS NULL
      OR waiting_messages.due_at IS DISTINCT FROM r.due_at) AS w
  GROUP BY status
  UNION ALL
  SELECT 'doubled', NULL, count(*) FROM (
    SELECT FROM messages GROUP BY message_id HAVING count(*) > 1) AS d HAVING count(*) > 0`;

/**
 * Checks that every message is in one place, that the counts by status are right, and that waiting messages are
 * found.
 */
export async function assertInStep(database: Database): Promise<void> {
  assert.deepEqual((await database.query(OUT_OF_STEP)).rows, []);
}
