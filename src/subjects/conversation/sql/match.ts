/** Finds the conversation that a person's message belongs to: by the message that it answers, then by the phone. */
import {
  type ApplicationId,
  applicationOfMessage,
  type BlindIndex,
  toApplicationId,
  toMessageId,
} from '../../../domain/application/ids.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { fromBigint, toBigint } from '../../../seal/blind-indexes.ts';
import type { ConversationId } from './conversations.ts';

type ChannelIndex = BlindIndex<'channel_message_id'>;

/** A conversation as far as matching needs it. */
export interface Found {
  readonly id: ConversationId;
  readonly applicationId: ApplicationId;
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly isOpen: boolean;
  /** By the database's clock; null: it is open. */
  readonly endedAt: Date | null;
  /** Its signature may be withdrawn now (D46). */
  readonly isWithdrawable: boolean;
  /** Until when a withdrawal of its signature had to be sent, up to a week ago; null: there is no such time. */
  readonly withdrawableUntil: Date | null;
  /** It is open, and the contract is what it asks about. */
  readonly isAtContract: boolean;
  /** It ended in review, neither withdrawn nor with a wrong person: the tap on a later approval begins a new one. */
  readonly mayBeginAgain: boolean;
}

const BY_REPLY = `
  SELECT channel_message_id AS index, application_id FROM replies WHERE channel_message_id = ANY ($1::bigint[])`;
const BY_MESSAGE = 'SELECT channel_message_id AS index, message_id FROM messages_of_channel($1)';

/** The applications of the replies and the messages with these ids of the channel. */
export async function applicationsOfContexts(
  session: Session,
  contexts: readonly ChannelIndex[],
): Promise<Map<ChannelIndex, ApplicationId>> {
  if (contexts.length === 0) return new Map();
  const indexes = [...new Set(contexts)].map(toBigint);
  const replies = await session.query<{ index: string; application_id: string }>(BY_REPLY, [indexes]);
  const found = new Map(
    replies.rows.map((row) => [
      fromBigint<'channel_message_id'>(row.index),
      toApplicationId(row.application_id),
    ]),
  );
  const missing = indexes.filter((index) => !found.has(fromBigint(index)));
  if (missing.length === 0) return found;
  const messages = await session.query<{ index: string; message_id: string }>(BY_MESSAGE, [missing]);
  for (const { index, message_id } of messages.rows) {
    found.set(fromBigint(index), applicationOfMessage(toMessageId(message_id)));
  }
  return found;
}

interface FoundRow {
  id: ConversationId;
  application_id: string;
  phone_index: string;
  is_open: boolean;
  ended_at: Date | null;
  is_withdrawable: boolean;
  withdrawable_ms: string | null;
  is_at_contract: boolean;
  may_begin_again: boolean;
}

const IS_WITHDRAWABLE = `coalesce(c.place = 'signed'
  AND (c.state->>'withdrawableUntilMs')::bigint > extract(epoch FROM clock_timestamp()) * 1000, false)`;
/** The channel tries for a week to tell of a message. */
const MAY_BE_WITHDRAWN = `coalesce(c.place = 'signed'
  AND (c.state->>'withdrawableUntilMs')::bigint > extract(epoch FROM clock_timestamp() - interval '7 days') * 1000, false)`;
const COLUMNS = `
  c.id, c.application_id, c.phone_index, c.ended_at IS NULL AS is_open, c.ended_at, ${IS_WITHDRAWABLE} AS is_withdrawable,
  CASE WHEN ${MAY_BE_WITHDRAWN} THEN c.state->>'withdrawableUntilMs' END AS withdrawable_ms,
  c.place IN ('contract', 'code') AS is_at_contract,
  c.place IN ('declined', 'expired', 'closed') AND c.status = 'in_review'
    AND c.state->'wrongPerson' IS DISTINCT FROM 'true' AS may_begin_again`;
/**
 * A conversation that ended is found for 60 days, and for as long as its signature may be withdrawn. After that the
 * phone may be somebody else's.
 */
const IS_RECENT = `(c.ended_at IS NULL OR c.ended_at > clock_timestamp() - interval '60 days' OR ${IS_WITHDRAWABLE})`;
const BY_APPLICATION = `
  SELECT DISTINCT ON (c.application_id) ${COLUMNS} FROM conversations c
  WHERE c.application_id = ANY ($1::bigint[]) AND ${IS_RECENT} ORDER BY c.application_id, c.id DESC`;
const BY_PHONE = `
  SELECT DISTINCT ON (c.phone_index) ${COLUMNS} FROM conversations c
  WHERE c.phone_index = ANY ($1::bigint[]) AND ${IS_RECENT}
  ORDER BY c.phone_index, c.ended_at IS NULL DESC, ${IS_WITHDRAWABLE} DESC, c.id DESC`;
const SIGNED = `
  SELECT DISTINCT ON (c.phone_index) ${COLUMNS} FROM conversations c
  WHERE c.phone_index = ANY ($1::bigint[]) AND ${MAY_BE_WITHDRAWN} ORDER BY c.phone_index, c.id DESC`;

/** The newest conversation of each of these applications. */
export async function conversationsOfApplications(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<Map<ApplicationId, Found>> {
  if (ids.length === 0) return new Map();
  const { rows } = await session.query<FoundRow>(BY_APPLICATION, [[...new Set(ids)]]);
  return new Map(rows.map((row) => [toApplicationId(row.application_id), foundOf(row)]));
}

/** The open conversation of each of these phones, else one whose signature may be withdrawn, else the newest one. */
export async function conversationsOfPhones(
  session: Session,
  phones: readonly BlindIndex<'phone'>[],
): Promise<Map<BlindIndex<'phone'>, Found>> {
  return byPhone(session, BY_PHONE, phones);
}

/** The newest conversation of each of these phones whose signature may be withdrawn, also beside an open one. */
export async function signedOfPhones(
  session: Session,
  phones: readonly BlindIndex<'phone'>[],
): Promise<Map<BlindIndex<'phone'>, Found>> {
  return byPhone(session, SIGNED, phones);
}

async function byPhone(session: Session, text: string, phones: readonly BlindIndex<'phone'>[]) {
  if (phones.length === 0) return new Map<BlindIndex<'phone'>, Found>();
  const { rows } = await session.query<FoundRow>(text, [[...new Set(phones)].map(toBigint)]);
  return new Map(rows.map((row) => [fromBigint<'phone'>(row.phone_index), foundOf(row)]));
}

function foundOf(row: FoundRow): Found {
  return {
    id: row.id,
    applicationId: toApplicationId(row.application_id),
    phoneIndex: fromBigint(row.phone_index),
    isOpen: row.is_open,
    endedAt: row.ended_at,
    isWithdrawable: row.is_withdrawable,
    withdrawableUntil: row.withdrawable_ms === null ? null : new Date(Number(row.withdrawable_ms)),
    isAtContract: row.is_at_contract,
    mayBeginAgain: row.may_begin_again,
  };
}
