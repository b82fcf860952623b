/** The outbox, as operators see it. */
import type { MessageStatus, MessageType } from '../domain/notify.ts';
import type { Database } from './database.ts';

export interface StoredMessage {
  readonly applicationId: number;
  readonly type: MessageType;
  readonly status: MessageStatus;
  readonly createdAt: Date;
}

export interface MessageFilter {
  readonly applicationId?: number | undefined;
  readonly status?: MessageStatus | undefined;
}

/** Most messages in memory at once. */
const CHUNK = 1_000;

const LIST = `
  SELECT application_id, type, status, created_at FROM messages
  WHERE ($1::bigint IS NULL OR application_id < $1) AND ($2::bigint IS NULL OR application_id = $2)
    AND ($3::message_status IS NULL OR status = $3)
  ORDER BY application_id DESC LIMIT ${CHUNK}`;

/** The messages that fit the filter, newest application first. */
export async function* readMessages(
  database: Database,
  filter: MessageFilter,
): AsyncGenerator<StoredMessage, void, undefined> {
  let before: string | null = null;
  for (;;) {
    const { rows }: { rows: Row[] } = await database.query<Row>(LIST, [
      before,
      filter.applicationId ?? null,
      filter.status ?? null,
    ]);
    for (const row of rows) {
      yield {
        applicationId: Number(row.application_id),
        type: row.type,
        status: row.status,
        createdAt: row.created_at,
      };
    }
    if (rows.length < CHUNK) return;
    before = (rows.at(-1) as Row).application_id;
  }
}

interface Row {
  application_id: string;
  type: MessageType;
  status: MessageStatus;
  created_at: Date;
}
