/** The statements that apply a channel's events about messages. */
import { type ApplicationId, type BlindIndex, toApplicationId } from '../../domain/application/ids.ts';
import type { Brand } from '../../domain/message/brand.ts';
import type { MessageStatus, MessageType } from '../../domain/message/notify.ts';
import { fromBigint, toBigint } from '../../storage/blind-indexes.ts';
import type { Session } from '../../storage/database.ts';
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
}

const HOLD = `
  SELECT application_id, status, attempts, tries, channel_message_id, type FROM message_records
  WHERE application_id = ANY ($1::bigint[]) OR channel_message_id = ANY ($2::bigint[])
  ORDER BY application_id FOR NO KEY UPDATE`;

interface AddresseeRow {
  id: string;
  templates: NonNullable<Brand['templates']> | null;
  phone_index: string;
}

/** A statement of its own: on a cluster, a statement about a table of the coordinator may not ask other machines. */
const ADDRESSEES = `
  SELECT a.id, k.brand -> 'templates' AS templates, a.phone_index
  FROM applications_of($1::bigint[]) a JOIN api_keys k ON k.id = a.api_key_id`;

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

interface Find {
  readonly applicationIds: readonly ApplicationId[];
  readonly channelIndexes: readonly BlindIndex<'channel_message_id'>[];
}

/**
 * Locks the messages of these applications or channel ids (blind indexes, as in all that is written), asks `decide`
 * for the changes and writes them, in the caller's transaction. Returns how many pauses are new.
 */
export async function settleMessages(
  session: Session,
  find: Find,
  decide: (held: readonly HeldMessage[]) => Settlement,
): Promise<number> {
  await makeMessages(session, find.applicationIds);
  const held = await hold(session, find);
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

async function hold(session: Session, { applicationIds, channelIndexes }: Find): Promise<HeldMessage[]> {
  const { rows } = await session.query<HeldRow>(HOLD, [applicationIds, channelIndexes.map(toBigint)]);
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.application_id);
  const addressees = await session.query<AddresseeRow>(ADDRESSEES, [ids]);
  const byId = new Map(addressees.rows.map((row) => [row.id, row]));
  return rows.flatMap((row) => {
    const addressee = byId.get(row.application_id);
    return addressee === undefined ? [] : [heldOf(row, addressee)];
  });
}

function heldOf(row: HeldRow, { templates, phone_index }: AddresseeRow): HeldMessage {
  return {
    applicationId: toApplicationId(row.application_id),
    status: row.status,
    attempts: row.attempts,
    tries: row.tries,
    channelIndex: row.channel_message_id === null ? null : fromBigint(row.channel_message_id),
    type: row.type,
    templates: templates ?? undefined,
    phoneIndex: fromBigint(phone_index),
  };
}
