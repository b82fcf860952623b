/** Messages for the simulator's page: those that reached their phone, and counts of the others. */

import { type ApplicationId, type BlindIndex, toApplicationId } from '../domain/application/ids.ts';
import type { Phone } from '../domain/application/phone.ts';
import type { Brand } from '../domain/message/brand.ts';
import type { MessageStatus, MessageType } from '../domain/message/notify.ts';
import { fromBigint } from './blind-indexes.ts';
import type { Database } from './database.ts';
import { countMessages } from './message-counts.ts';
import { readPersonalData, SEALED_COLUMNS, type SealedRow } from './personal-data.ts';
import type { Vault } from './vault.ts';

/** A message on a phone, with everything that its text is composed from. */
export interface ChatMessage {
  readonly applicationId: ApplicationId;
  readonly type: MessageType;
  readonly status: Extract<MessageStatus, 'accepted' | 'sent' | 'delivered' | 'read'>;
  /** Sends so far; the last one is the one on the phone. */
  readonly attempts: number;
  /** When its application was registered. */
  readonly createdAt: Date;
  /** When the applicant first tapped "I am interested". */
  readonly interestedAt: Date | null;
  /** When the phone was suppressed; null if it is not. */
  readonly suppressedAt: Date | null;
  /** Blind index. */
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

interface Row extends SealedRow {
  application_id: string;
  type: MessageType;
  status: ChatMessage['status'];
  attempts: number;
  created_at: Date;
  interested_at: Date | null;
  suppressed_at: Date | null;
  phone_index: string;
  debt_amount: number;
  currency: string;
  partner_name: string;
  brand: Brand;
  read_at: Date;
}

/** With $2, only the messages of those applications. */
const READ = `
  WITH newest AS MATERIALIZED (
    SELECT * FROM message_records
    WHERE status IN ('accepted', 'sent', 'delivered', 'read') AND channel_message_id IS NOT NULL
      AND ($2::bigint[] IS NULL OR application_id = ANY ($2))
    ORDER BY application_id DESC LIMIT $1
  )
  SELECT m.application_id, m.type, m.status, m.attempts, a.created_at, a.interested_at,
    s.created_at AS suppressed_at, ${SEALED_COLUMNS}, a.debt_amount, a.currency,
    p.name AS partner_name, k.brand, now() AS read_at
  FROM newest m
  JOIN applications_of(ARRAY(SELECT application_id FROM newest)) a ON a.id = m.application_id
  JOIN partners p ON p.id = a.partner_id
  JOIN api_keys k ON k.id = a.api_key_id
  LEFT JOIN suppressions s ON s.phone_index = a.phone_index AND s.active
  ORDER BY m.application_id DESC`;

/**
 * The newest `limit` messages on phones, newest application first. Leaves out messages of erased applicants and of
 * applicants whose personal data does not open.
 */
export function readChatMessages(database: Database, vault: Vault, limit: number): Promise<ChatMessage[]> {
  return read(database, vault, limit, null);
}

/** The same for the messages of these applications. */
export function readChatMessagesOf(
  database: Database,
  vault: Vault,
  ids: readonly ApplicationId[],
): Promise<ChatMessage[]> {
  return read(database, vault, ids.length, ids);
}

/** The message of an application; null if it is on no phone. */
export async function readChatMessage(
  database: Database,
  vault: Vault,
  applicationId: ApplicationId,
): Promise<ChatMessage | null> {
  return (await read(database, vault, 1, [applicationId]))[0] ?? null;
}

async function read(
  database: Database,
  vault: Vault,
  limit: number,
  ids: readonly ApplicationId[] | null,
): Promise<ChatMessage[]> {
  const { rows } = await database.query<Row>(READ, [limit, ids]);
  const persons = await readPersonalData(database, vault, rows);
  return persons.flatMap(({ row, person: { record } }) => {
    if (record?.phone == null || record.name == null) return [];
    return [
      {
        applicationId: toApplicationId(row.application_id),
        type: row.type,
        status: row.status,
        attempts: row.attempts,
        createdAt: row.created_at,
        interestedAt: row.interested_at,
        suppressedAt: row.suppressed_at,
        phoneIndex: fromBigint(row.phone_index),
        phone: record.phone,
        name: record.name,
        debtAmount: row.debt_amount,
        currency: row.currency,
        partnerName: row.partner_name,
        brand: row.brand,
        readAt: row.read_at,
      },
    ];
  });
}

const ABSENT = ['queued', 'sending', 'failed', 'uncertain', 'cancelled'] as const;

/** Messages that are on no phone, by status and reason. */
export interface AbsentMessages {
  readonly status: (typeof ABSENT)[number];
  /** A code; null if there is none, or for older messages. */
  readonly reason: string | null;
  readonly count: number;
  /** When the first of the queued messages is due; null for other statuses and for older messages. */
  readonly dueAt: Date | null;
  /** True for the messages that are too old to be told apart by reason. */
  readonly isOlder: boolean;
}

type NewestCount = Pick<AbsentMessages, 'reason' | 'count' | 'dueAt'> & { readonly status: MessageStatus };

const COUNT_NEWEST = `
  SELECT status, reason, count(*)::integer AS count,
    CASE WHEN status = 'queued' THEN min(due_at) END AS "dueAt"
  FROM newest_messages(NULL, $1::integer) newest
  GROUP BY status, reason ORDER BY status, reason`;

/**
 * Counts the messages that are on no phone: the newest `limit` messages by status and reason, and all older ones by
 * status. The counts of a status add up to its exact number.
 */
export async function countAbsentMessages(database: Database, limit: number): Promise<AbsentMessages[]> {
  const { rows } = await database.query<NewestCount>(COUNT_NEWEST, [limit]);
  const isAll = sumOf(rows) < limit;
  const totals = isAll ? [] : await countMessages(database);
  return ABSENT.flatMap((status) => {
    const newest = rows.filter((row) => row.status === status);
    const total = totals.find((one) => one.status === status)?.count ?? 0;
    const older = total - sumOf(newest);
    return [
      ...newest.map((row) => ({ ...row, status, isOlder: false })),
      ...(older > 0 ? [{ status, reason: null, count: older, dueAt: null, isOlder: true }] : []),
    ];
  });
}

function sumOf(rows: readonly NewestCount[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}
