/**
 * What is known about persons who write without a conversation: the open application of their phone, and what it was
 * sent (D43). Reads `open_phones`, messages, `conversations` and `replies`.
 */
import {
  type ApplicationId,
  type BlindIndex,
  messageIdsOf,
  partitionOf,
} from '../../../domain/application/ids.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { toBigint } from '../../../seal/blind-indexes.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';

const OPEN = 'SELECT application_id::float8 AS id FROM open_phones WHERE phone_index = ANY ($1::bigint[])';

/** The open applications of these phones. */
export async function openApplicationsOf(
  session: Session,
  phones: readonly BlindIndex<'phone'>[],
): Promise<ApplicationId[]> {
  if (phones.length === 0) return [];
  const { rows } = await session.query<{ id: ApplicationId }>(OPEN, [phones.map(toBigint)]);
  return rows.map(({ id }) => id);
}

const SENT = `
  SELECT m.application_id::float8 AS id, bool_or(m.type IN ('approved', 'offer')) AS "hasOffer" FROM messages_of($1) AS m
  WHERE m.status IN ('accepted', 'sent', 'delivered', 'read') GROUP BY m.application_id`;

/** Those of these applications that were sent a message, each with whether an offer was among them. */
export async function sentTo(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<Map<ApplicationId, { readonly hasOffer: boolean }>> {
  const sent = new Map<ApplicationId, { readonly hasOffer: boolean }>();
  for (const some of byPartitions(ids, partitionOf)) {
    const values = [some.flatMap(messageIdsOf)];
    const { rows } = await session.query<{ id: ApplicationId; hasOffer: boolean }>(SENT, values);
    for (const { id, hasOffer } of rows) sent.set(id, { hasOffer });
  }
  return sent;
}

const WITH_CONVERSATION = `
  SELECT DISTINCT c.application_id::float8 AS id FROM conversations c WHERE c.application_id = ANY ($1::bigint[])`;

/** Those of these applications that were sent an offer and have had no conversation. */
export async function offeredWithoutConversation(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<ReadonlySet<ApplicationId>> {
  const sent = await sentTo(session, ids);
  const offered = new Set(ids.filter((id) => sent.get(id)?.hasOffer));
  if (offered.size === 0) return offered;
  const { rows } = await session.query<{ id: ApplicationId }>(WITH_CONVERSATION, [[...offered]]);
  for (const { id } of rows) offered.delete(id);
  return offered;
}

const ANSWERED =
  'SELECT application_id::float8 AS id FROM replies WHERE application_id = ANY ($1::bigint[]) AND turn = $2';

/** Those of these applications that have a reply with this turn. */
export async function answeredAt(
  session: Session,
  ids: readonly ApplicationId[],
  turn: number,
): Promise<ReadonlySet<ApplicationId>> {
  const { rows } = await session.query<{ id: ApplicationId }>(ANSWERED, [ids, turn]);
  return new Set(rows.map(({ id }) => id));
}
