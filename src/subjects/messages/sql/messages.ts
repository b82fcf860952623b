/**
 * Reads messages and pauses as operators see them. Reads the functions over `messages`, `batches`, `sender` and
 * `paused_templates`, and writes nothing.
 */
import {
  type ApplicationId,
  type MessageId,
  messageIdsOf,
  partitionOf,
} from '../../../domain/application/ids.ts';
import type { MessageStatus, MessageType } from '../../../domain/message/notify.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import type { Database, Session } from '../../../ground/postgres/database.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';

export interface StoredMessage {
  readonly id: MessageId;
  readonly applicationId: ApplicationId;
  readonly type: MessageType;
  readonly status: MessageStatus;
  readonly attempts: number;
  /** A code that says why the message waits, failed, is uncertain or was cancelled. */
  readonly reason: MessageReason | null;
  /**
   * For `queued`: the earliest time at which the message goes out. For `uncertain`: from when on an operator may settle
   * it. Otherwise null.
   */
  readonly dueAt: Date | null;
  /** When its application was registered, or reviewed (D40). */
  readonly createdAt: Date;
  readonly changedAt: Date;
}

/**
 * When the application of a message after a review was reviewed; NULL for the message of a registration. `m`: a row of
 * `messages`.
 */
export const REVIEWED_AT = `CASE WHEN m.message_id <> m.application_id THEN (
    SELECT e.at FROM application_events e
    WHERE e.application_id = m.application_id AND e.from_status <> e.to_status
      AND message_after_review(e.application_id, e.to_status) = m.message_id) END`;

const COLUMNS = `m.message_id AS id, m.application_id::float8 AS "applicationId", m.type, m.status, m.attempts, m.reason,
  coalesce(m.reviewed_at, b.created_at) AS "createdAt", m.changed_at AS "changedAt",
  CASE WHEN m.status IN ('queued', 'uncertain') THEN m.due_at END AS "dueAt"`;

function withBatches(messages: string): string {
  return `
  WITH found AS MATERIALIZED (SELECT m.*, ${REVIEWED_AT} AS reviewed_at FROM ${messages})
  SELECT ${COLUMNS} FROM found m
  JOIN registered_at(ARRAY(SELECT DISTINCT batch_id FROM found)) b ON b.id = m.batch_id
  ORDER BY m.application_id DESC, m.message_id DESC`;
}

const LIST = withBatches('newest_messages($1, $2, $3) m');

const READ = withBatches('messages_of($1) m');

/** The `limit` messages with the highest ids from `from` to before `before`, newest application first. */
export async function readNewestMessages(
  database: Database,
  from: string,
  before: string,
  limit: number,
): Promise<StoredMessage[]> {
  return (await database.query<StoredMessage>(LIST, [from, before, limit])).rows;
}

/** These messages in the order of the ids: newest application first, within an application the latest message first. */
export async function readMessagesById(
  session: Session,
  ids: readonly MessageId[],
): Promise<StoredMessage[]> {
  const messages: StoredMessage[] = [];
  for (const some of byPartitions(ids, partitionOf)) {
    messages.push(...(await session.query<StoredMessage>(READ, [some])).rows);
  }
  return messages;
}

/** All messages of an application, the latest first. */
export function readMessagesOf(database: Database, applicationId: ApplicationId): Promise<StoredMessage[]> {
  return readMessagesById(database, messageIdsOf(applicationId));
}

const PAUSES = `
  SELECT 'sender' AS what, paused_reason AS reason, paused_at AS "pausedAt" FROM sender WHERE paused_at IS NOT NULL
  UNION ALL SELECT name, reason, paused_at FROM paused_templates ORDER BY "pausedAt"`;

/** A pause that holds until an operator resumes it; `what` is 'sender' or the name of a template. */
interface Pause {
  readonly what: string;
  readonly reason: MessageReason;
  readonly pausedAt: Date;
}

export async function readPauses(database: Database): Promise<Pause[]> {
  return (await database.query<Pause>(PAUSES)).rows;
}
