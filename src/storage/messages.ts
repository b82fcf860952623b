/** Messages, as operators see them. */
import { type ApplicationId, toApplicationId } from '../domain/application/ids.ts';
import type { MessageStatus, MessageType } from '../domain/message/notify.ts';
import type { Database } from './database.ts';
import { countInState } from './message-counts.ts';

export interface StoredMessage {
  readonly applicationId: ApplicationId;
  readonly type: MessageType;
  readonly status: MessageStatus;
  readonly attempts: number;
  /** A code: why the message waits, failed, is uncertain or was cancelled. */
  readonly reason: string | null;
  /**
   * queued: when the message goes out at the earliest. uncertain: from when an operator may settle it. Otherwise
   * null.
   */
  readonly dueAt: Date | null;
  readonly createdAt: Date;
  readonly changedAt: Date;
}

export interface MessageFilter {
  readonly applicationId?: ApplicationId | undefined;
  readonly status?: MessageStatus | undefined;
}

/** Most messages in memory at once. */
const CHUNK = 1_000;

const COLUMNS = `m.application_id, m.type, m.status, m.attempts, m.reason, b.created_at, m.changed_at,
  CASE WHEN m.status IN ('queued', 'uncertain') THEN m.due_at END AS due_at`;

/** Joins the batches by key: without the keys the planner may read all batches. */
function withBatches(messages: string): string {
  return `
  WITH found AS MATERIALIZED (${messages})
  SELECT ${COLUMNS} FROM found m
  JOIN batches b ON b.id = m.batch_id AND b.id = ANY (ARRAY(SELECT DISTINCT batch_id FROM found))
  ORDER BY m.application_id DESC`;
}

const LIST = withBatches(`SELECT * FROM newest_messages($1::bigint, ${CHUNK})`);

const READ = withBatches(`
  SELECT * FROM messages
  WHERE application_id = ANY ($1::bigint[])
    AND batch_id = ANY (ARRAY(SELECT DISTINCT id >> 7 FROM unnest($1::bigint[]) AS id))`);

/** The messages that fit the filter, newest application first. */
export async function* readMessages(
  database: Database,
  { applicationId, status }: MessageFilter,
): AsyncGenerator<StoredMessage, void, undefined> {
  if (applicationId !== undefined) {
    const messages = await readMessagesOf(database, [applicationId]);
    return yield* messages.filter((message) => status === undefined || message.status === status);
  }
  if (status !== undefined) return yield* walkOver(database, status);
  let before: string | null = null;
  for (;;) {
    const { rows }: { rows: Row[] } = await database.query<Row>(LIST, [before]);
    yield* rows.map(messageOf);
    if (rows.length < CHUNK) return;
    before = rows.at(-1)?.application_id ?? null;
  }
}

/** The messages of these applications, newest application first. */
export async function readMessagesOf(
  database: Database,
  applicationIds: readonly (number | string)[],
): Promise<StoredMessage[]> {
  const { rows } = await database.query<Row>(READ, [applicationIds]);
  return rows.map(messageOf);
}

/**
 * Most rows that one statement looks at: among millions a rare status would otherwise outlast the statement's time
 * limit.
 */
const SCAN = 20_000;

const FOUND =
  "coalesce(array_agg(id ORDER BY id DESC), '{}')::text[] AS ids, min(id) AS last, count(*)::integer AS seen";

/** Waiting messages are found by their status; messages in the outbox are all queued. */
const WALK_WAITING = `
  SELECT ${FOUND} FROM (
    (SELECT application_id AS id FROM waiting_messages
    WHERE status = $2 AND application_id < coalesce($1::bigint, 9223372036854775807)
    ORDER BY application_id DESC LIMIT ${CHUNK})
    UNION ALL
    (SELECT o.application_id FROM outbox_messages o
    WHERE $2 = 'queued'::message_status AND o.batch_id <= coalesce($1::bigint, 9223372036854775807) >> 7
      AND o.application_id < coalesce($1::bigint, 9223372036854775807)
    ORDER BY o.batch_id DESC, o.application_id DESC LIMIT ${CHUNK})
    ORDER BY 1 DESC LIMIT ${CHUNK}
  ) AS found`;

/** A message that is being sent has a lease. */
const WALK_SENDING = `
  SELECT ${FOUND} FROM (
    SELECT DISTINCT u.id FROM leases l, unnest(l.ids) AS u(id) WHERE u.id < coalesce($1::bigint, 9223372036854775807)
    ORDER BY u.id DESC LIMIT ${CHUNK}
  ) AS found
  WHERE $2 = 'sending'::message_status`;

/** Most messages have one of the other statuses, or pass through them: an index would cost each of them. */
const WALK_RECORDS = `
  SELECT coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE status = $2), '{}')::text[] AS ids,
    min(id) AS last, count(*)::integer AS seen
  FROM (
    SELECT application_id AS id, status FROM message_records
    WHERE application_id < coalesce($1::bigint, 9223372036854775807)
    ORDER BY application_id DESC LIMIT ${SCAN}
  ) AS found`;

function walkOf(status: MessageStatus): { text: string; step: number } {
  if (status === 'sending') return { text: WALK_SENDING, step: CHUNK };
  if (status === 'queued' || status === 'uncertain' || status === 'failed')
    return { text: WALK_WAITING, step: CHUNK };
  return { text: WALK_RECORDS, step: SCAN };
}

/** The messages with this status, newest application first. Stops as soon as it has found as many as the count says. */
async function* walkOver(
  database: Database,
  status: MessageStatus,
): AsyncGenerator<StoredMessage, void, undefined> {
  const { text, step } = walkOf(status);
  let left = await countInState(database, status);
  let before: string | null = null;
  while (left > 0) {
    const page: { rows: { ids: string[]; last: string | null; seen: number }[] } = await database.query(
      text,
      [before, status],
    );
    const { ids, last, seen } = page.rows[0] as { ids: string[]; last: string | null; seen: number };
    for (let start = 0; start < ids.length; start += CHUNK) {
      const messages = await readMessagesOf(database, ids.slice(start, start + CHUNK));
      const fitting = messages.filter((message) => message.status === status);
      left -= fitting.length;
      yield* fitting;
    }
    if (seen < step) return;
    before = last;
  }
}

const PAUSES = `
  SELECT 'sender' AS what, paused_reason AS reason, paused_at FROM sender WHERE paused_at IS NOT NULL
  UNION ALL SELECT name, reason, paused_at FROM paused_templates ORDER BY paused_at`;

/** A pause that holds until an operator resumes it; `what` is 'sender' or the name of a template. */
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
    applicationId: toApplicationId(row.application_id),
    type: row.type,
    status: row.status,
    attempts: row.attempts,
    reason: row.reason,
    dueAt: row.due_at,
    createdAt: row.created_at,
    changedAt: row.changed_at,
  };
}
