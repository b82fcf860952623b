/** Records the results of sends in one statement, which PostgreSQL completes even if its client dies meanwhile. */
import type { BlindIndex, MessageId } from '../../applications/rules/ids.ts';
import type { Session } from '../../postgres/database.ts';
import { toBigint } from '../../seal/blind-indexes.ts';
import type { MessageStatus, MessageType } from '../rules/notify.ts';

/** What the result of a send makes of its message. */
export interface SendResultRow {
  readonly messageId: MessageId;
  readonly type: MessageType;
  readonly partnerId: number;
  readonly attempt: number;
  readonly status: Extract<MessageStatus, 'accepted' | 'queued' | 'failed' | 'uncertain'>;
  readonly channelIndex: BlindIndex<'channel_message_id'> | null;
  readonly reason: string | null;
  /** Milliseconds from the record until the message is due again, or until an operator may settle it. */
  readonly afterMs: number;
}

const RECORD = 'SELECT record_send_results($1, $2, $3, $4, $5, $6, $7, $8)';

/** Records results; a message that changed meanwhile stays as it is. */
export async function recordSendResults(session: Session, records: readonly SendResultRow[]): Promise<void> {
  await session.query({
    name: 'record_send_results',
    text: RECORD,
    values: [
      records.map((record) => record.messageId),
      records.map((record) => record.type),
      records.map((record) => record.partnerId),
      records.map((record) => record.attempt),
      records.map((record) => record.status),
      records.map(({ channelIndex }) => channelIndex && toBigint(channelIndex)),
      records.map((record) => record.reason),
      records.map((record) => record.afterMs),
    ],
  });
}
