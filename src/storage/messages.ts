/** The outbox, as operators see it. */
import type { MessageStatus, MessageType } from '../domain/notify.ts';
import type { Database } from './database.ts';
import { countInState } from './message-counts.ts';

export interface StoredMessage {
  readonly applicationId: number;
  readonly type: MessageType;
  readonly status: MessageStatus;
  readonly attempts: number;
  /** Why it waits, failed, is uncertain or was cancelled; a code. */
  readonly reason: string | null;
  /** queued: when it goes out at the earliest. uncertain: from when it may be settled. Else null. */
  readonly dueAt: Date | null;
  readonly createdAt: Date;
  readonly changedAt: Date;
}

export interface MessageFilter {
  readonly applicationId?: number | undefined;
  readonly status?: MessageStatus | undefined;
}

/** Most messages in memory at once. */
const CHUNK = 1_000;

const COLUMNS = `application_id, type, status, attempts, reason, created_at, changed_at,
  CASE WHEN status IN ('queued', 'uncertain') THEN due_at END AS due_at`;

const LIST = `
  SELECT ${COLUMNS} FROM messages
  WHERE ($1::bigint IS NULL OR application_id < $1) AND ($2::bigint IS NULL OR application_id = $2)
    AND ($3::message_status IS NULL OR status = $3)
  ORDER BY application_id DESC LIMIT ${CHUNK}`;

/** The messages that fit the filter, newest application first. */
export async function* readMessages(
  database: Database,
  filter: MessageFilter,
): AsyncGenerator<StoredMessage, void, undefined> {
  const { applicationId, status } = filter;
  if (applicationId === undefined && status !== undefined && NO_INDEX.has(status)) {
    return yield* walkOver(database, status);
  }
  let before: string | null = null;
  for (;;) {
    const { rows }: { rows: Row[] } = await database.query<Row>(LIST, [
      before,
      applicationId ?? null,
      status ?? null,
    ]);
    yield* rows.map(messageOf);
    if (rows.length < CHUNK) return;
    before = (rows.at(-1) as Row).application_id;
  }
}

/** Most messages are in these states, or pass through them: an index would cost each of them. */
const NO_INDEX: ReadonlySet<MessageStatus> = new Set(['accepted', 'sent', 'delivered', 'read', 'cancelled']);
/** Rows that one statement looks at: among millions a rare state would otherwise outlast the statement's time. */
const SCAN = 20_000;

const WALK = `
  SELECT coalesce(array_agg(application_id ORDER BY application_id DESC) FILTER (WHERE status = $2), '{}')::text[] AS ids,
    min(application_id) AS last
  FROM (
    SELECT application_id, status FROM messages WHERE $1::bigint IS NULL OR application_id < $1
    ORDER BY application_id DESC LIMIT ${SCAN}
  ) AS seen`;

const READ = `
  SELECT ${COLUMNS} FROM messages WHERE application_id = ANY ($1::bigint[]) ORDER BY application_id DESC`;

/** Those of a state, newest application first: no more steps than it takes to find as many as there are. */
async function* walkOver(
  database: Database,
  status: MessageStatus,
): AsyncGenerator<StoredMessage, void, undefined> {
  let left = await countInState(database, status);
  let before: string | null = null;
  while (left > 0) {
    const page: { rows: { ids: string[]; last: string | null }[] } = await database.query(WALK, [
      before,
      status,
    ]);
    const { ids, last } = page.rows[0] as { ids: string[]; last: string | null };
    for (let start = 0; start < ids.length; start += CHUNK) {
      const { rows } = await database.query<Row>(READ, [ids.slice(start, start + CHUNK)]);
      yield* rows.filter((row) => row.status === status).map(messageOf);
    }
    if (last === null) return;
    left -= ids.length;
    before = last;
  }
}

/** A message is settled by an operator when the channel can no longer be expected to. */
const SETTLED = `(status = 'uncertain' AND due_at <= now())`;

const RETRY = `
  UPDATE messages SET status = 'queued', reason = 'operator', tries = 0, due_at = now(), changed_at = now()
  WHERE application_id = $1::bigint AND (status = 'failed' OR ${SETTLED}) RETURNING ${COLUMNS}`;

const CANCEL = `
  UPDATE messages SET status = 'cancelled', reason = 'operator', changed_at = now()
  WHERE application_id = $1::bigint AND (status = 'queued' OR ${SETTLED}) RETURNING ${COLUMNS}`;

/** Queues a failed message, or an uncertain one that may be settled, once more; null where it is neither. */
export async function retryMessage(database: Database, applicationId: number): Promise<StoredMessage | null> {
  return one(database, RETRY, applicationId);
}

/** Cancels a queued message, or an uncertain one that may be settled; null where it is neither. */
export async function cancelMessage(
  database: Database,
  applicationId: number,
): Promise<StoredMessage | null> {
  return one(database, CANCEL, applicationId);
}

async function one(database: Database, text: string, applicationId: number): Promise<StoredMessage | null> {
  const { rows } = await database.query<Row>(text, [applicationId]);
  return rows[0] === undefined ? null : messageOf(rows[0]);
}

const PAUSES = `
  SELECT 'sender' AS what, paused_reason AS reason, paused_at FROM sender WHERE paused_at IS NOT NULL
  UNION ALL SELECT name, reason, paused_at FROM paused_templates ORDER BY paused_at`;

/** What is held until an operator resumes it; `what` is 'sender' or a template's name. */
export interface Pause {
  readonly what: string;
  readonly reason: string;
  readonly pausedAt: Date;
}

export async function readPauses(database: Database): Promise<Pause[]> {
  const { rows } = await database.query<{ what: string; reason: string; paused_at: Date }>(PAUSES);
  return rows.map(({ what, reason, paused_at }) => ({ what, reason, pausedAt: paused_at }));
}

interface Row {
  application_id: string;
  type: MessageType;
  status: MessageStatus;
  attempts: number;
  reason: string | null;
  created_at: Date;
  changed_at: Date;
  due_at: Date | null;
}

function messageOf(row: Row): StoredMessage {
  return {
    applicationId: Number(row.application_id),
    type: row.type,
    status: row.status,
    attempts: row.attempts,
    reason: row.reason,
    dueAt: row.due_at,
    createdAt: row.created_at,
    changedAt: row.changed_at,
  };
}
