/** The statements that apply a channel's events. */
import { type ApplicationId, type BlindIndex, toApplicationId } from '../../domain/application/ids.ts';
import type { Brand } from '../../domain/message/brand.ts';
import type { MessageStatus, MessageType } from '../../domain/message/notify.ts';
import { fromBigint, toBigint } from '../../storage/blind-indexes.ts';
import type { Database, Session } from '../../storage/database.ts';
import { makeMessages } from '../../storage/message-records.ts';
import type { MessageMove, MessageState } from '../rules/settle.ts';
import { pauseSender, pauseTemplate } from './pauses.ts';

/** A message whose row this transaction has locked. */
export interface HeldMessage extends MessageState {
  readonly applicationId: ApplicationId;
  readonly type: MessageType;
  /** From the brand of the message's key. */
  readonly templates: Brand['templates'];
  readonly phoneIndex: BlindIndex<'phone'>;
}

/** The changes to write for the held messages. */
export interface Settlement {
  readonly moves: readonly (MessageMove & { readonly applicationId: ApplicationId })[];
  /** Why the sender is paused until an operator resumes it; null: not paused by these events. */
  readonly pauseSender: string | null;
  /** Reasons by template name. */
  readonly pauseTemplates: ReadonlyMap<string, string>;
}

interface HeldRow {
  application_id: string;
  status: MessageStatus;
  attempts: number;
  tries: number;
  channel_message_id: string | null;
  type: MessageType;
  templates: NonNullable<Brand['templates']> | null;
  phone_index: string;
}

const HOLD = `
  WITH held AS MATERIALIZED (
    SELECT * FROM message_records
    WHERE application_id = ANY ($1::bigint[]) OR channel_message_id = ANY ($2::bigint[])
    ORDER BY application_id FOR NO KEY UPDATE
  )
  SELECT m.application_id, m.status, m.attempts, m.tries, m.channel_message_id, m.type,
    k.brand -> 'templates' AS templates, a.phone_index
  FROM held m
  JOIN applications_of(ARRAY(SELECT application_id FROM held)) a ON a.id = m.application_id
  JOIN api_keys k ON k.id = a.api_key_id
  ORDER BY m.application_id`;

/** In UTC, because on a cluster an UPDATE may depend on no time zone where it computes with columns. */
const MOVE = `
  UPDATE message_records m SET status = g.status, channel_message_id = g.channel_message_id, reason = g.reason,
    due_at = (now() AT TIME ZONE 'UTC' + g.after_ms * interval '1 millisecond') AT TIME ZONE 'UTC', changed_at = now()
  FROM unnest($1::bigint[], $2::message_status[], $3::bigint[], $4::text[], $5::float8[])
    AS g(id, status, channel_message_id, reason, after_ms)
  WHERE m.application_id = g.id`;
/** A message with no due time is not waiting: `is_waiting` in `migrations/0005_delivery.sql`. */
const WAITING: readonly MessageStatus[] = ['queued', 'uncertain', 'failed'];

/**
 * A message that may go out again says nothing about when its last send reached the channel (`record_send_results`).
 */
const NOTE_ANSWERS = `
  UPDATE recipients SET answered_at = now() WHERE phone_index IN (
    SELECT phone_index FROM recipients
    WHERE phone_index = ANY ($1::bigint[]) AND application_id = ANY ($2::bigint[]) AND answered_at IS NULL
    ORDER BY phone_index FOR NO KEY UPDATE)`;

/**
 * Locks the messages of these applications or channel ids (blind indexes, as in all that is written), asks `decide`
 * for the changes and writes them, in the caller's transaction. Returns how many pauses are new.
 */
export async function settleMessages(
  session: Session,
  find: {
    readonly applicationIds: readonly ApplicationId[];
    readonly channelIndexes: readonly BlindIndex<'channel_message_id'>[];
  },
  decide: (held: readonly HeldMessage[]) => Settlement,
): Promise<number> {
  await makeMessages(session, find.applicationIds);
  const { rows } = await session.query<HeldRow>(HOLD, [
    find.applicationIds,
    find.channelIndexes.map(toBigint),
  ]);
  const held = rows.map(heldOf);
  const { moves, pauseSender: senderReason, pauseTemplates } = decide(held);
  if (moves.length > 0) {
    await session.query(MOVE, [
      moves.map(({ applicationId }) => applicationId),
      moves.map(({ status }) => status),
      moves.map(({ channelIndex }) => channelIndex && toBigint(channelIndex)),
      moves.map(({ reason }) => reason),
      moves.map(({ status, afterMs }) => (WAITING.includes(status) ? afterMs : null)),
    ]);
  }
  let pauses = 0;
  if (senderReason !== null && (await pauseSender(session, senderReason))) pauses += 1;
  // Sorted, so that two transactions do not wait for each other in a circle.
  for (const [name, reason] of [...pauseTemplates].sort()) {
    if (await pauseTemplate(session, name, reason)) pauses += 1;
  }
  const again = new Set(
    moves
      .filter(({ status }) => status === 'queued' || status === 'failed')
      .map(({ applicationId }) => applicationId),
  );
  if (again.size > 0) {
    const phones = held.filter(({ applicationId }) => again.has(applicationId));
    await session.query(NOTE_ANSWERS, [phones.map(({ phoneIndex }) => toBigint(phoneIndex)), [...again]]);
  }
  return pauses;
}

function heldOf(row: HeldRow): HeldMessage {
  return {
    applicationId: toApplicationId(row.application_id),
    status: row.status,
    attempts: row.attempts,
    tries: row.tries,
    channelIndex: row.channel_message_id === null ? null : fromBigint(row.channel_message_id),
    type: row.type,
    templates: row.templates ?? undefined,
    phoneIndex: fromBigint(row.phone_index),
  };
}

/** An applicant's tap of "I am interested". */
export interface InterestTap {
  readonly applicationId: ApplicationId;
  /** Blind index of the phone that tapped. */
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly contextIndex: BlindIndex<'channel_message_id'> | null;
  readonly at: Date;
}

/**
 * Of two statements at once the second one waits for the first, and then finds the time set. The conditions on the
 * ids make PostgreSQL read messages by key instead of all of them.
 */
const RECORD_INTEREST = `
  WITH tapped AS (
    SELECT DISTINCT ON (t.application_id) t.application_id, t.at, a.status
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[])
      AS t(application_id, phone_index, context_id, at)
    JOIN messages m ON m.application_id = t.application_id AND m.batch_id = t.application_id >> 7
    JOIN applications_of($1::bigint[]) a ON a.id = t.application_id
    WHERE m.application_id = ANY ($1::bigint[]) AND m.batch_id = ANY (ARRAY(SELECT id >> 7 FROM unnest($1::bigint[]) AS id))
      AND a.interested_at IS NULL AND (a.phone_index = t.phone_index OR m.channel_message_id = t.context_id)
    ORDER BY t.application_id, t.at
  ), noted AS (
    INSERT INTO application_states AS s (batch_id, application_id, status, interested_at)
    SELECT application_id >> 7, application_id, status, least(at, now()) FROM tapped ORDER BY application_id
    ON CONFLICT (batch_id, application_id)
    DO UPDATE SET interested_at = excluded.interested_at WHERE s.interested_at IS NULL
    RETURNING application_id, status, interested_at
  )
  INSERT INTO application_events (application_id, at, actor, action, from_status, to_status, reason)
  SELECT application_id, interested_at, 'applicant', 'interested', status, status, $5 FROM noted ORDER BY application_id`;

/**
 * Records the first interest of each application, if the tap comes from the phone that its message went to, or names
 * that message. Returns for how many applications the interest is new.
 */
export async function recordInterest(
  database: Database,
  taps: readonly InterestTap[],
  reason: string,
): Promise<number> {
  if (taps.length === 0) return 0;
  const { rowCount } = await database.query(RECORD_INTEREST, [
    taps.map(({ applicationId }) => applicationId),
    taps.map(({ phoneIndex }) => toBigint(phoneIndex)),
    taps.map(({ contextIndex }) => contextIndex && toBigint(contextIndex)),
    taps.map(({ at }) => at),
    reason,
  ]);
  return rowCount ?? 0;
}
