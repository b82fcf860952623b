/**
 * Status events without our callback that came before the record of their message: nobody knows their id yet. They
 * are kept until the record comes.
 *
 * An event that looks for its message while the record is being written could miss it, and the record the event: each
 * would see the state before the other. So records hold the table in a mode that they share (`record_send_results`), and
 * events that may be early in one that shuts records out, before either looks.
 */

import { toApplicationId } from '../../domain/application/ids.ts';
import type { ChannelStatus } from '../../domain/message/channel-event.ts';
import { formatCallback } from '../../domain/message/outgoing-message.ts';
import type { SendFailure } from '../../domain/message/send-result.ts';
import { fromBigint, toBigint } from '../../storage/blind-indexes.ts';
import type { Session } from '../../storage/database.ts';
import type { IndexedStatus } from '../rules/settle.ts';
import type { SendResultRow } from './send-results.ts';

/** Records wait until this transaction is over; all that were written are to be seen. */
export async function shutOutRecords(session: Session): Promise<void> {
  await session.query('LOCK TABLE early_events IN EXCLUSIVE MODE');
}

/** Of the same status the first counts. */
const KEEP = `
  INSERT INTO early_events (channel_message_id, status, at, failure, came_ms)
  SELECT *, elapsed_ms() FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::jsonb[])
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
 * The early events of these records, with the callback that they came without; forgotten with it. They are to be applied
 * after the records, in the same transaction.
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

/** Deletes events of messages that nobody here sent. */
export async function forgetEarly(session: Session): Promise<void> {
  while ((await session.query(FORGET)).rowCount === 5000);
}
