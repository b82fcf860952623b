/**
 * Begins conversations, and reads what their beginning has to know: application, brand and messages (D43). Reads
 * `applications_of`, `messages_of`, `partners` and `api_keys`; calls `begin_conversations`.
 */
import {
  type ApplicationId,
  type BlindIndex,
  messageIdsOf,
  partitionOf,
} from '../../../domain/application/ids.ts';
import { type ApplicationStatus, isOpen } from '../../../domain/application/lifecycle.ts';
import type { Brand } from '../../../domain/partner/brand.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { readIndex, toBigint } from '../../../seal/blind-indexes.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';
import { suppressedOf } from '../../messages/sql/suppressions.ts';

/** An application that may have a conversation. */
export interface Candidate {
  readonly applicationId: ApplicationId;
  readonly partnerId: PartnerId;
  readonly partnerName: string;
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly status: ApplicationStatus;
  readonly brand: Brand;
  /** The applicant agreed to get messages (`messaging_optin`). */
  readonly hasConsent: boolean;
  readonly isSigned: boolean;
  /** The phone belongs to a wrong person. */
  readonly isWrongPerson: boolean;
}

const READ = `
  SELECT a.id::float8 AS "applicationId", a.partner_id AS "partnerId", p.name AS "partnerName",
    ${readIndex('a.phone_index')} AS "phoneIndex", a.status, k.brand, a.messaging_optin AS "hasConsent",
    a.signed_at IS NOT NULL AS "isSigned", a.wrong_person AS "isWrongPerson"
  FROM applications_of($1) a JOIN partners p ON p.id = a.partner_id JOIN api_keys k ON k.id = a.api_key_id`;

/** The open applications among these that have a phone; with `closedToo`, the closed ones as well. */
export async function readCandidates(
  session: Session,
  ids: readonly ApplicationId[],
  closedToo = false,
): Promise<Candidate[]> {
  /** The status of an application is null where its facts are damaged. */
  type Row = Omit<Candidate, 'phoneIndex' | 'status'> & {
    readonly [Name in 'phoneIndex' | 'status']: Candidate[Name] | null;
  };
  const found: Candidate[] = [];
  for (const some of byPartitions(ids, partitionOf)) {
    const { rows } = await session.query<Row>(READ, [some]);
    for (const { phoneIndex, status, ...row } of rows) {
      if (phoneIndex !== null && status !== null && (closedToo || isOpen(status)))
        found.push({ ...row, phoneIndex, status });
    }
  }
  return found;
}

const MESSAGES = `
  SELECT message_id AS "messageId", application_id::float8 AS id, ${readIndex('channel_message_id')} AS index
  FROM messages_of($1)`;

/**
 * The blind indexes of the channel's ids of the messages that an application got, and of the message after an approval
 * (D40; null: there is none).
 */
export interface ChannelIndexes {
  readonly all: ReadonlySet<string>;
  readonly approval: string | null;
}

export async function channelIndexesOf(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<Map<ApplicationId, ChannelIndexes>> {
  const found = new Map<ApplicationId, { all: Set<string>; approval: string | null }>();
  for (const some of byPartitions(ids, partitionOf)) {
    type Row = { messageId: string; id: ApplicationId; index: string | null };
    const { rows } = await session.query<Row>(MESSAGES, [some.flatMap(messageIdsOf)]);
    for (const { messageId, id, index } of rows) {
      if (index === null) continue;
      const of = found.get(id) ?? { all: new Set(), approval: null };
      of.all.add(index);
      if (messageId === messageIdsOf(id)[1]) of.approval = index;
      found.set(id, of);
    }
  }
  return found;
}

/** Whether the phone of a conversation is suppressed, by the chat or from anywhere else. */
export async function isMuted(
  session: Session,
  { phoneIndex }: { readonly phoneIndex: BlindIndex<'phone'> },
): Promise<boolean> {
  return (await suppressedOf(session, [phoneIndex])).size > 0;
}

const BEGIN = 'SELECT begin_conversations($1, $2, $3, $4, $5)::float8 AS id';

/**
 * Begins conversations for applications that have had none; with `again`, for those that have no open one. Returns the
 * applications whose conversation began now.
 */
export async function beginConversations(
  session: Session,
  candidates: readonly Candidate[],
  again: boolean,
): Promise<ApplicationId[]> {
  if (candidates.length === 0) return [];
  const { rows } = await session.query<{ id: ApplicationId }>(BEGIN, [
    candidates.map(({ applicationId }) => applicationId),
    candidates.map(({ partnerId }) => partnerId),
    candidates.map(({ phoneIndex }) => toBigint(phoneIndex)),
    candidates.map(({ status }) => status),
    again,
  ]);
  return rows.map(({ id }) => id);
}
