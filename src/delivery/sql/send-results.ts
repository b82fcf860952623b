/** Records the results of sends in one statement, which PostgreSQL completes even if its client dies meanwhile. */
import type { ApplicationId, BlindIndex } from '../../domain/application/ids.ts';
import type { MessageStatus, MessageType } from '../../domain/message/notify.ts';
import { toBigint } from '../../storage/blind-indexes.ts';
import type { Session } from '../../storage/database.ts';
import { makeMessages } from '../../storage/message-records.ts';

/** What the result of a send makes of its message. */
export interface SendResultRow {
  readonly applicationId: ApplicationId;
  readonly type: MessageType;
  readonly attempt: number;
  readonly status: Extract<MessageStatus, 'accepted' | 'queued' | 'failed' | 'uncertain'>;
  readonly channelIndex: BlindIndex<'channel_message_id'> | null;
  readonly reason: string | null;
  /** Milliseconds from the record until the message is due again, or until an operator may settle it. */
  readonly afterMs: number;
}

const RECORD = 'SELECT id FROM record_send_results($1, $2, $3, $4, $5, $6, $7)';

/**
 * Records results; a message that changed meanwhile stays as it is. Returns the applications whose messages have
 * early events: their results are recorded only after `takeEarly`.
 */
export async function recordSendResults(
  session: Session,
  records: readonly SendResultRow[],
): Promise<ReadonlySet<number>> {
  const { rows } = await session.query<{ id: string }>({
    name: 'record_send_results',
    text: RECORD,
    values: [
      records.map((record) => record.applicationId),
      records.map((record) => record.type),
      records.map((record) => record.attempt),
      records.map((record) => record.status),
      records.map(({ channelIndex }) => channelIndex && toBigint(channelIndex)),
      records.map((record) => record.reason),
      records.map((record) => record.afterMs),
    ],
  });
  return new Set(rows.map(({ id }) => Number(id)));
}

const HOLD_MESSAGES = `
  SELECT FROM message_records WHERE application_id = ANY ($1::bigint[]) ORDER BY application_id FOR NO KEY UPDATE`;
const HOLD_SENDER = 'SELECT FROM sender FOR NO KEY UPDATE';
/**
 * Locks the whole table, because it is not known yet whether the events pause a template, and which one. Readers do
 * not wait.
 */
const HOLD_PAUSES = 'LOCK TABLE paused_templates IN SHARE ROW EXCLUSIVE MODE';

/**
 * Takes the locks of a transaction that records results and then applies events, which may pause the sender and
 * templates. A record locks recipients, and recipients come last in the order of locks (head of
 * `migrations/0005_delivery.sql`).
 */
export async function holdForEvents(session: Session, records: readonly SendResultRow[]): Promise<void> {
  const applicationIds = records.map(({ applicationId }) => applicationId);
  await makeMessages(session, applicationIds);
  await session.query(HOLD_MESSAGES, [applicationIds]);
  await session.query(HOLD_SENDER);
  await session.query(HOLD_PAUSES);
}
