/**
 * Status events without our callback that come before the record of their message. No message has their id yet, so
 * they are kept until the record comes.
 *
 * An event that looks for its message while the record is being written could miss the record, and the record could
 * miss the event: each would see the state before the other. So transactions that write records lock the table in a
 * mode that they share (`record_send_results`), and transactions with events that may be early lock it in a mode that
 * excludes records, before either looks.
 */

import { toApplicationId } from '../../domain/application/ids.ts';
import type { ChannelStatus } from '../../domain/message/channel-event.ts';
import { formatCallback } from '../../domain/message/outgoing-message.ts';
import type { SendFailure } from '../../domain/message/send-result.ts';
import { fromBigint, toBigint } from '../../storage/blind-indexes.ts';
import type { Session } from '../../storage/database.ts';
import type { IndexedStatus } from '../rules/settle.ts';
import type { SendResultRow } from './send-results.ts';

/** Makes records wait until this transaction is over, and waits for the records that are being written. */
export async function shutOutRecords(session: Session): Promise<void> {
  await session.query('LOCK TABLE early_events IN EXCLUSIVE MODE');
}

/** The first event of each status counts. */
const KEEP = `
  INSERT INTO early_events (channel_message_id, status, at, failure, came_ms)
  SELECT u.*, e.ms FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::jsonb[]) AS u, elapsed e
  ON CONFLICT DO NOTHING`;

/** Keeps events until the record of their message comes. */
export async function keepEarly(session: Session, events: readonly IndexedStatus[]): Promise<void> {
  if (events.length === 0) return;
  await session.query(KEEP, [
    events.map(({ channelIndex }) => toBigint(channelIndex)),
    events.map(({ status }) => status),
    events.map(({ at }) => at),
    events.map(({ failure }) => failure && JSON.stringify(failure)),
  ]);
}

const TAKE = `
  DELETE FROM early_events e USING unnest($1::bigint[], $2::smallint[], $3::bigint[]) AS r(id, attempt, channel_message_id)
  WHERE e.channel_message_id = r.channel_message_id
  RETURNING r.id, r.attempt, e.channel_message_id, e.status, e.at, e.failure`;

interface EarlyRow {
  id: string;
  attempt: number;
  channel_message_id: string;
  status: ChannelStatus;
  at: Date;
  failure: SendFailure | null;
}

/**
 * Takes the early events of these records out of the table and gives them the callback that they came without. Apply
 * them after the records, in the same transaction.
 */
export async function takeEarly(
  session: Session,
  records: readonly Pick<SendResultRow, 'applicationId' | 'attempt' | 'channelIndex'>[],
): Promise<IndexedStatus[]> {
  await session.query('LOCK TABLE early_events IN ROW EXCLUSIVE MODE');
  const { rows } = await session.query<EarlyRow>(TAKE, [
    records.map(({ applicationId }) => applicationId),
    records.map(({ attempt }) => attempt),
    records.map(({ channelIndex }) => channelIndex && toBigint(channelIndex)),
  ]);
  return rows.map(({ id, attempt, channel_message_id, status, at, failure }) => ({
    kind: 'status',
    channelIndex: fromBigint(channel_message_id),
    callback: formatCallback(toApplicationId(id), attempt),
    status,
    at,
    failure,
  }));
}

const FORGET = `
  DELETE FROM early_events WHERE (channel_message_id, status) IN (
    SELECT channel_message_id, status FROM early_events WHERE came_ms <= elapsed_ms() - 3600000
    ORDER BY came_ms LIMIT 5000 FOR UPDATE SKIP LOCKED)`;

/** Deletes the events that waited an hour: this service did not send their messages. */
export async function forgetEarly(session: Session): Promise<void> {
  while ((await session.query(FORGET)).rowCount === 5000);
}
