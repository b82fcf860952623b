/** The statements that apply a channel's events. */
import type { Brand } from '../../domain/message/brand.ts';
import type { StatusEvent } from '../../domain/message/channel-event.ts';
import type { MessageStatus, MessageType } from '../../domain/message/notify.ts';
import { fromBigint, toBigint } from '../../storage/blind-indexes.ts';
import type { Session } from '../../storage/database.ts';
import { makeMessages } from '../../storage/message-records.ts';
import type { MessageMove, MessageState } from '../rules/settle.ts';
import { keepEarly, shutOutRecords } from './early-events.ts';
import { pauseSender, pauseTemplate } from './pauses.ts';

/** A message as it is while nobody else can change it. */
export interface HeldMessage extends MessageState {
  readonly applicationId: number;
  readonly type: MessageType;
  /** Of the brand of its key. */
  readonly templates: Brand['templates'];
  /** Blind index. */
  readonly phoneIndex: string;
}

/** What is to be written of held messages. */
export interface Settlement {
  readonly moves: readonly (MessageMove & { readonly applicationId: number })[];
  /** Why nothing may be sent until an operator acts; null: no such reason. */
  readonly pauseSender: string | null;
  /** Reasons by template name. */
  readonly pauseTemplates: ReadonlyMap<string, string>;
  /** Events without a callback whose message is not known yet. */
  readonly early: readonly StatusEvent[];
}

interface MessageKeys {
  readonly applicationIds: readonly number[];
  readonly channelMessageIds: readonly string[];
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

const NAMED = 'application_id = ANY ($1::bigint[])';
const KNOWN = `SELECT channel_message_id FROM message_records WHERE ${NAMED} AND channel_message_id IS NOT NULL`;

/** By the channel's id alone a message may be in any partition; by its application it is in one. */
const HOLD = hold(`${NAMED} OR channel_message_id = ANY ($2::bigint[])`);
const HOLD_NAMED = hold(NAMED);

function hold(condition: string): string {
  return `
  WITH held AS MATERIALIZED (
    SELECT * FROM message_records WHERE ${condition} ORDER BY application_id FOR NO KEY UPDATE
  )
  SELECT m.application_id, m.status, m.attempts, m.tries, m.channel_message_id, m.type,
    k.brand -> 'templates' AS templates, a.phone_index
  FROM held m
  JOIN applications_of(ARRAY(SELECT application_id FROM held)) a ON a.id = m.application_id
  JOIN api_keys k ON k.id = a.api_key_id
  ORDER BY m.application_id`;
}

/** As elsewhere, the ids stand there by their values too: so the planner sees which partitions they are in. */
const MOVE = `
  UPDATE message_records m SET status = g.status, channel_message_id = g.channel_message_id, reason = g.reason,
    due_at = CASE WHEN is_waiting(g.status) THEN now() + g.after_ms * interval '1 millisecond' END, changed_at = now()
  FROM unnest($1::bigint[], $2::message_status[], $3::bigint[], $4::text[], $5::float8[])
    AS g(id, status, channel_message_id, reason, after_ms)
  WHERE m.application_id = g.id AND m.application_id = ANY ($1::bigint[])`;

/** See `record_send_results`: what may go out again does not tell when it was at the channel. */
const NOTE_ANSWERS = `
  UPDATE recipients SET answered_at = now() WHERE phone_index IN (
    SELECT phone_index FROM recipients
    WHERE phone_index = ANY ($1::bigint[]) AND application_id = ANY ($2::bigint[]) AND answered_at IS NULL
    ORDER BY phone_index FOR NO KEY UPDATE)`;

/**
 * Holds the messages of these applications or channel ids (blind indexes, here and in what is written), asks
 * `decide` what becomes of them and writes it, in the caller's transaction. `mayBeEarly` tells that there may be events
 * to keep. How many pauses are new.
 */
export async function settleMessages(
  session: Session,
  find: MessageKeys & { readonly mayBeEarly: boolean },
  decide: (held: readonly HeldMessage[]) => Settlement,
): Promise<number> {
  if (find.mayBeEarly) await shutOutRecords(session);
  await makeMessages(session, find.applicationIds);
  const held = await holdMessages(session, find);
  const { moves, pauseSender: senderReason, pauseTemplates, early } = decide(held);
  await keepEarly(session, early);
  if (moves.length > 0) {
    await session.query(MOVE, [
      moves.map(({ applicationId }) => applicationId),
      moves.map(({ status }) => status),
      moves.map(({ channelMessageId }) => channelMessageId && toBigint(channelMessageId)),
      moves.map(({ reason }) => reason),
      moves.map(({ afterMs }) => afterMs),
    ]);
  }
  let pauses = 0;
  if (senderReason !== null && (await pauseSender(session, senderReason))) pauses += 1;
  // Sorted, so that two at once do not wait in a circle.
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

/** The ids that the messages of these applications have are looked for nowhere else: an id is of one message. */
async function holdMessages(
  session: Session,
  { applicationIds, channelMessageIds }: MessageKeys,
): Promise<HeldMessage[]> {
  const { rows: known } = await session.query<Pick<HeldRow, 'channel_message_id'>>(KNOWN, [applicationIds]);
  const others = new Set(channelMessageIds.map(toBigint));
  for (const { channel_message_id } of known) others.delete(channel_message_id as string);
  const { rows } =
    others.size === 0
      ? await session.query<HeldRow>(HOLD_NAMED, [applicationIds])
      : await session.query<HeldRow>(HOLD, [applicationIds, [...others]]);
  return rows.map(heldOf);
}

function heldOf(row: HeldRow): HeldMessage {
  return {
    applicationId: Number(row.application_id),
    status: row.status,
    attempts: row.attempts,
    tries: row.tries,
    channelMessageId: row.channel_message_id && fromBigint(row.channel_message_id),
    type: row.type,
    templates: row.templates ?? undefined,
    phoneIndex: fromBigint(row.phone_index),
  };
}
