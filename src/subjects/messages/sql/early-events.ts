/**
 * Early events: status events without our callback that come before the record of their message. No message has their
 * id yet, so `early_events` keeps them until the record comes.
 *
 * A process that writes an event or a record first commits it, and then looks for the other one. So at least one of the
 * two finds the other, and no lock is needed. The process that takes the event out of the table applies it
 * (src/subjects/messages/README.md).
 */

import type { BlindIndex } from '../../../domain/application/ids.ts';
import type { Database, Transaction } from '../../../ground/postgres/database.ts';
import { readIndex, toBigint } from '../../../seal/blind-indexes.ts';
import type { IndexedStatus } from '../rules/settle.ts';

/** The first event of each status counts. A later one may add the recipient. */
const KEEP = `
  INSERT INTO early_events AS e (channel_message_id, status, at, failure, user_index, came_ms)
  SELECT u.channel_message_id, u.status, (array_agg(u.at ORDER BY u.n))[1], (array_agg(u.failure ORDER BY u.n))[1],
    max(u.user_index), (SELECT ms FROM elapsed)
  FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::jsonb[], $5::bigint[])
    WITH ORDINALITY AS u(channel_message_id, status, at, failure, user_index, n)
  GROUP BY u.channel_message_id, u.status
  ORDER BY u.channel_message_id, u.status
  ON CONFLICT (channel_message_id, status) DO UPDATE SET user_index = excluded.user_index
  WHERE e.user_index IS NULL AND excluded.user_index IS NOT NULL`;

/** Keeps events until the record of their message comes. */
export async function keepEarly(database: Database, events: readonly IndexedStatus[]): Promise<void> {
  if (events.length === 0) return;
  await database.query(KEEP, [
    events.map(({ channelIndex }) => toBigint(channelIndex)),
    events.map(({ status }) => status),
    events.map(({ at }) => at),
    events.map(({ failure }) => failure && JSON.stringify(failure)),
    events.map(({ userIndex }) => userIndex && toBigint(userIndex)),
  ]);
}

const TAKEN = `RETURNING 'status' AS kind, ${readIndex('e.channel_message_id')} AS "channelIndex", NULL AS callback,
  e.status, e.at, e.failure, ${readIndex('e.user_index')} AS "userIndex"`;
/** If another transaction takes an event at the same moment, that transaction applies it. */
const TAKE = `
  DELETE FROM early_events e WHERE (e.channel_message_id, e.status) IN (
    SELECT channel_message_id, status FROM early_events WHERE channel_message_id = ANY ($1::bigint[])
    ORDER BY channel_message_id, status FOR UPDATE SKIP LOCKED)
  ${TAKEN}`;
const TAKE_KNOWN = `
  DELETE FROM early_events e WHERE (e.channel_message_id, e.status) IN (
    SELECT k.channel_message_id, k.status FROM early_events k
    WHERE k.channel_message_id = ANY (ARRAY(
      SELECT m.channel_message_id FROM messages_of_channel(coalesce($1::bigint[], ARRAY(
        SELECT DISTINCT channel_message_id FROM early_events))) AS m
      UNION ALL
      SELECT r.channel_message_id FROM replies r WHERE r.channel_message_id = ANY (coalesce($1::bigint[], ARRAY(
        SELECT DISTINCT channel_message_id FROM early_events)))))
    ORDER BY k.channel_message_id, k.status LIMIT 1000 FOR UPDATE OF k SKIP LOCKED)
  ${TAKEN}`;

/** A recorded message, with the callback of its send. */
export interface Recorded {
  readonly channelIndex: BlindIndex<'channel_message_id'> | null;
  readonly callback: string;
}

/**
 * Takes the early events of these records out of the table, and gives them the callback that they came without. Apply
 * them in the same transaction.
 */
export async function takeEarly(
  session: Transaction,
  records: readonly Recorded[],
): Promise<IndexedStatus[]> {
  const callbacks = new Map(records.map(({ channelIndex, callback }) => [channelIndex, callback]));
  const indexes = records.flatMap(({ channelIndex }) =>
    channelIndex === null ? [] : [toBigint(channelIndex)],
  );
  const { rows } = await session.query<IndexedStatus>(TAKE, [indexes]);
  return rows.map((event) => ({ ...event, callback: callbacks.get(event.channelIndex) ?? null }));
}

/**
 * Takes early events whose message now has a record out of the table: those with these ids, or, if `channelIndexes` is
 * null, at most 1,000 of all. Apply them in the same transaction.
 */
export async function takeKnownEarly(
  session: Transaction,
  channelIndexes: readonly BlindIndex<'channel_message_id'>[] | null,
): Promise<IndexedStatus[]> {
  const values = [channelIndexes?.map(toBigint) ?? null];
  return (await session.query<IndexedStatus>(TAKE_KNOWN, values)).rows;
}

const HAS_EARLY = `
  SELECT EXISTS (SELECT FROM early_events WHERE channel_message_id = ANY ($1::bigint[])) AS early`;

/** Whether an early event waits for one of these ids. */
export async function hasEarly(
  database: Database,
  channelIndexes: readonly BlindIndex<'channel_message_id'>[],
): Promise<boolean> {
  const values = [channelIndexes.map(toBigint)];
  const { rows } = await database.query<{ early: boolean }>({ name: 'has_early', text: HAS_EARLY, values });
  return rows[0]?.early === true;
}
