/**
 * Reads the messages that reached their phone, for the simulator's page. Reads `message_records`, histories and the
 * personal data of applicants, and writes nothing.
 */

import {
  type ApplicationId,
  type BlindIndex,
  type MessageId,
  messageIdsOf,
} from '../../domain/application/ids.ts';
import type { WordedReason } from '../../domain/application/refusal.ts';
import { composeMessage } from '../../domain/message/compose-message.ts';
import type { MessageStatus, MessageType } from '../../domain/message/notify.ts';
import type { OutgoingMessage } from '../../domain/message/outgoing-message.ts';
import type { Brand } from '../../domain/partner/brand.ts';
import type { Phone } from '../../domain/phone/phone.ts';
import type { Database } from '../../ground/postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import { readPersonalData, SEALED_COLUMNS, type SealedRow } from '../applications/sql/personal-data.ts';
import { REVIEWED_AT } from '../messages/sql/messages.ts';
import { toldReasons } from '../messages/sql/told-reasons.ts';
import { FIRST_AFTER_REVIEW, recentMessagesFrom } from './newest-ids.ts';

/** A message on a phone, with everything that its text is composed from. */
export interface ChatMessage {
  readonly messageId: MessageId;
  readonly applicationId: ApplicationId;
  readonly type: MessageType;
  /** The reasons that it told (D50). */
  readonly reasons: readonly WordedReason[];
  readonly status: Extract<MessageStatus, 'accepted' | 'sent' | 'delivered' | 'read'>;
  /** The number of sends so far. The last one is on the phone. */
  readonly attempts: number;
  /** When its application was registered, or reviewed (D40). */
  readonly createdAt: Date;
  /** When the applicant first tapped "I am interested". */
  readonly interestedAt: Date | null;
  /** When the phone was suppressed; null: it is not suppressed. */
  readonly suppressedAt: Date | null;
  /** The blind index of the phone. */
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly phone: Phone;
  readonly name: string;
  readonly debtAmount: number;
  readonly currency: string;
  readonly partnerName: string;
  readonly brand: Brand;
  /** The time of this reading, by the database's clock (D39). */
  readonly readAt: Date;
}

const IS_ON_PHONE =
  "r.status IN ('accepted', 'sent', 'delivered', 'read') AND r.channel_message_id IS NOT NULL";
const ON_PHONE = 'SELECT r.*, application_of_message(r.message_id) AS application_id FROM message_records r';

/** How many of the newest entries of histories are searched for reviews. */
const NEWEST_EVENTS = 1_000;

/** The messages of the newest registrations, the messages after the newest reviews, and reminders. */
const NEWEST = `
  (${ON_PHONE} WHERE r.message_id >= $2 AND r.message_id < ${FIRST_AFTER_REVIEW} AND ${IS_ON_PHONE}
  ORDER BY r.message_id DESC LIMIT $1)
  UNION ALL
  (${ON_PHONE} WHERE r.message_id >= ${FIRST_AFTER_REVIEW} AND ${IS_ON_PHONE} AND r.message_id = ANY (ARRAY(
    SELECT message_after_review(e.application_id, e.to_status)
    FROM (SELECT * FROM application_events ORDER BY id DESC LIMIT ${NEWEST_EVENTS}) AS e
    WHERE e.from_status <> e.to_status)))
  UNION ALL
  (${ON_PHONE} WHERE is_reminder(r.message_id) AND r.message_id >= ${FIRST_AFTER_REVIEW} AND ${IS_ON_PHONE}
  ORDER BY r.message_id DESC LIMIT $1)`;
const OF_IDS = `${ON_PHONE} WHERE r.message_id = ANY ($1::bigint[]) AND ${IS_ON_PHONE}`;

const readText = (messages: string) => `
  WITH found AS MATERIALIZED (
    SELECT m.*, ${REVIEWED_AT} AS reviewed_at FROM (${messages}) AS m
  )
  SELECT m.message_id AS "messageId", m.application_id::float8 AS "applicationId", m.type, m.status, m.attempts,
    coalesce(m.reviewed_at, a.created_at) AS "createdAt", a.interested_at AS "interestedAt",
    s.created_at AS "suppressedAt", ${SEALED_COLUMNS}, a.debt_amount AS "debtAmount", a.currency,
    p.name AS "partnerName", k.brand, now() AS "readAt"
  FROM found m
  JOIN applications_of(ARRAY(SELECT DISTINCT application_id FROM found)) a ON a.id = m.application_id
  JOIN partners p ON p.id = a.partner_id
  JOIN api_keys k ON k.id = a.api_key_id
  LEFT JOIN suppressions s ON s.phone_index = a.phone_index AND s.active
  ORDER BY "createdAt" DESC, m.message_id DESC`;
const READ_NEWEST = `${readText(NEWEST)} LIMIT $1`;
const READ = readText(OF_IDS);

/**
 * The newest `limit` messages on phones, newest first. Leaves out messages of erased applicants and of applicants whose
 * personal data does not open.
 */
export async function readChatMessages(
  database: Database,
  vault: Vault,
  limit: number,
): Promise<ChatMessage[]> {
  return read(database, vault, READ_NEWEST, [limit, await recentMessagesFrom(database)]);
}

/** Reads the chat messages of these applications, however old they are. */
export function readChatMessagesOf(
  database: Database,
  vault: Vault,
  ids: readonly ApplicationId[],
): Promise<ChatMessage[]> {
  return ids.length === 0 ? Promise.resolve([]) : read(database, vault, READ, [ids.flatMap(messageIdsOf)]);
}

/** One message; null: it reached no phone. */
export async function readChatMessage(
  database: Database,
  vault: Vault,
  id: MessageId,
): Promise<ChatMessage | null> {
  return (await read(database, vault, READ, [[id]]))[0] ?? null;
}

async function read(
  database: Database,
  vault: Vault,
  text: string,
  values: unknown[],
): Promise<ChatMessage[]> {
  type Row = SealedRow & Omit<ChatMessage, 'phoneIndex' | 'phone' | 'name' | 'reasons'>;
  const { rows } = await database.query<Row>(text, values);
  const persons = await readPersonalData(database, vault, rows, ['name', 'phone']);
  const rejected = rows.filter(({ type }) => type === 'rejected').map(({ messageId }) => messageId);
  const reasons = await toldReasons(database, rejected);
  return persons.flatMap(({ row, person: { record } }) => {
    if (record?.phone == null || record.name == null) return [];
    const { phone, name } = record;
    return [{ ...row, phoneIndex: row.phoneIndex!, phone, name, reasons: reasons.get(row.messageId) ?? [] }];
  });
}

/** The message as its phone got it; null: its brand or currency cannot make a text. */
export function composeChatMessage(message: ChatMessage): OutgoingMessage | null {
  try {
    return composeMessage({ ...message, attempt: message.attempts });
  } catch {
    return null;
  }
}
