/**
 * Records the results of sends in one statement, which PostgreSQL completes even if its client dies meanwhile. Calls
 * `record_send_results`; `rules/after-send.ts` has the rule.
 */
import type { BlindIndex, MessageId } from '../../../domain/application/ids.ts';
import type { MessageType } from '../../../domain/message/notify.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { columnsOf } from '../../../ground/postgres/columns.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { toBigint } from '../../../seal/blind-indexes.ts';
import type { HealthSignal, ResultMove } from '../rules/after-send.ts';

/** What the result of a send makes of its message, and what it says about the channel. */
export interface SendResultRow extends ResultMove {
  readonly messageId: MessageId;
  readonly type: MessageType;
  readonly partnerId: PartnerId;
  readonly attempt: number;
  readonly channelIndex: BlindIndex<'channel_message_id'> | null;
  readonly signal: HealthSignal;
}

const RECORD = 'SELECT record_send_results($1, $2, $3, $4, $5, $6, $7, $8)';

/** Records results. A message that has changed meanwhile stays as it is. */
export async function recordSendResults(
  database: Database,
  records: readonly SendResultRow[],
): Promise<void> {
  await database.query({
    name: 'record_send_results',
    text: RECORD,
    values: [
      ...columnsOf(records, 'messageId', 'type', 'partnerId', 'attempt', 'status'),
      records.map(({ channelIndex }) => channelIndex && toBigint(channelIndex)),
      ...columnsOf(records, 'reason', 'afterMs'),
    ],
  });
}
