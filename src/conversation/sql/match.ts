/** Finds the conversation that a person's message belongs to: by the message that it answers, then by the phone. */
import {
  type ApplicationId,
  applicationOfMessage,
  type BlindIndex,
  toApplicationId,
  toMessageId,
} from '../../applications/rules/ids.ts';
import type { Session } from '../../postgres/database.ts';
import { fromBigint, toBigint } from '../../seal/blind-indexes.ts';
import type { ConversationId } from './conversations.ts';

type ChannelIndex = BlindIndex<'channel_message_id'>;

/** A conversation as far as matching needs it. */
export interface Found {
  readonly id: ConversationId;
  readonly applicationId: ApplicationId;
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly isOpen: boolean;
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
}

/**
 * A conversation that ended is found for 60 days: the longest time in which a signature may be withdrawn is shorter.
 * After that the phone may be somebody else's.
 */
const COLUMNS = 'c.id, c.application_id, c.phone_index, c.ended_at IS NULL AS is_open';
const IS_RECENT = "(c.ended_at IS NULL OR c.ended_at > clock_timestamp() - interval '60 days')";
const BY_APPLICATION = `
  SELECT DISTINCT ON (c.application_id) ${COLUMNS} FROM conversations c
  WHERE c.application_id = ANY ($1::bigint[]) AND ${IS_RECENT} ORDER BY c.application_id, c.id DESC`;
const BY_PHONE = `
  SELECT DISTINCT ON (c.phone_index) ${COLUMNS} FROM conversations c
  WHERE c.phone_index = ANY ($1::bigint[]) AND ${IS_RECENT}
  ORDER BY c.phone_index, c.ended_at IS NULL DESC, c.id DESC`;

/** The newest conversation of each of these applications. */
export async function conversationsOfApplications(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<Map<ApplicationId, Found>> {
  if (ids.length === 0) return new Map();
  const { rows } = await session.query<FoundRow>(BY_APPLICATION, [[...new Set(ids)]]);
  return new Map(rows.map((row) => [toApplicationId(row.application_id), foundOf(row)]));
}

/** The open conversation of each of these phones, or else the newest one. */
export async function conversationsOfPhones(
  session: Session,
  phones: readonly BlindIndex<'phone'>[],
): Promise<Map<BlindIndex<'phone'>, Found>> {
  if (phones.length === 0) return new Map();
  const { rows } = await session.query<FoundRow>(BY_PHONE, [[...new Set(phones)].map(toBigint)]);
  return new Map(rows.map((row) => [fromBigint<'phone'>(row.phone_index), foundOf(row)]));
}

function foundOf({ id, application_id, phone_index, is_open }: FoundRow): Found {
  return {
    id,
    applicationId: toApplicationId(application_id),
    phoneIndex: fromBigint(phone_index),
    isOpen: is_open,
  };
}
