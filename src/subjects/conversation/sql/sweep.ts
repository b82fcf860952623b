/**
 * Finds open conversations beside which something changed: the status of the application, or an opt-out from anywhere
 * (D43). Reads `conversations`, `application_events`, `application_states` and `suppressions`.
 */
import { type ApplicationId, type BlindIndex, partitionOf } from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { readIndex, toBigint } from '../../../seal/blind-indexes.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';
import type { ConversationId } from './conversations.ts';

/** An open conversation, and the status of its application that it knows. */
export interface OpenConversation {
  readonly id: ConversationId;
  readonly applicationId: ApplicationId;
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly status: ApplicationStatus;
}

const COLUMNS = `c.id, c.application_id::float8 AS "applicationId", ${readIndex('c.phone_index')} AS "phoneIndex", c.status`;
/**
 * A change is seen by seven looks, because its transaction may take long. A clock that steps can hide changes from
 * them; the round finds those.
 */
const RECENT = "now() - interval '15 seconds'";
/** If more changes come at once, the round finds the others. */
const MOST_CHANGES = 2_000;
const CHANGED_BESIDE = `
  SELECT ${COLUMNS} FROM conversations c WHERE c.ended_at IS NULL AND c.application_id = ANY (ARRAY(
    SELECT e.application_id FROM application_events e WHERE e.at > ${RECENT} AND e.from_status <> e.to_status
    LIMIT ${MOST_CHANGES}))
  UNION
  SELECT ${COLUMNS} FROM conversations c WHERE c.ended_at IS NULL AND c.phone_index = ANY (ARRAY(
    SELECT s.phone_index FROM suppressions s WHERE s.changed_at > ${RECENT} AND s.active LIMIT ${MOST_CHANGES}))`;

/** The open conversations whose application's status, or whose phone's suppression, changed just now. */
export async function changedBeside(session: Session): Promise<OpenConversation[]> {
  return (await session.query<OpenConversation>(CHANGED_BESIDE)).rows;
}

/** How many conversations of the round one look takes (docs/upkeep.md has the cost). */
export const PART = 1_000;
const OPEN = `
  SELECT ${COLUMNS} FROM conversations c
  WHERE c.ended_at IS NULL AND c.application_id > $1 ORDER BY c.application_id LIMIT ${PART}`;

/**
 * The next part of the round over all open conversations, which finds the changes that recent times do not tell.
 * `after` null: the first part.
 */
export async function nextOpen(session: Session, after: ApplicationId | null): Promise<OpenConversation[]> {
  return (await session.query<OpenConversation>(OPEN, [after ?? 0])).rows;
}

/**
 * The webhook stores an opt-out right before the words that said it. The words say more, namely how the conversation
 * ends, so the look waits for them. The outbox holds back every message meanwhile.
 */
const OPTED_OUT = `
  SELECT ${readIndex('s.phone_index')} AS index FROM suppressions s WHERE s.active AND s.phone_index = ANY ($1::bigint[])
    AND NOT (s.source = 'keyword' AND s.changed_at BETWEEN now() - interval '5 seconds' AND now())`;

/** Those of these phones that are suppressed, without those whose words come in a moment. */
export async function optedOutOf(
  session: Session,
  phones: readonly BlindIndex<'phone'>[],
): Promise<ReadonlySet<string>> {
  const { rows } = await session.query<{ index: string }>(OPTED_OUT, [phones.map(toBigint)]);
  return new Set(rows.map(({ index }) => index));
}

/** Every application with a conversation has its state in a row (`mark_conversations`). */
const CHANGED = `
  SELECT s.application_id::float8 AS id, s.status FROM unnest($1::bigint[], $2::application_status[]) AS u(id, status)
  JOIN application_states s ON s.batch_id = batch_of(u.id) AND s.application_id = u.id AND s.batch_id = ANY ($3::bigint[])
  WHERE s.status <> u.status`;

/** Those of these conversations whose application now has another status, with that status. */
export async function changedStatuses(
  session: Session,
  some: readonly OpenConversation[],
): Promise<{ readonly conversation: OpenConversation; readonly status: ApplicationStatus }[]> {
  const byId = new Map(some.map((one) => [one.applicationId, one]));
  const changed: { conversation: OpenConversation; status: ApplicationStatus }[] = [];
  for (const part of byPartitions(
    some.map(({ applicationId }) => applicationId),
    partitionOf,
  )) {
    const { rows } = await session.query<{ id: ApplicationId; status: ApplicationStatus }>(CHANGED, [
      part,
      part.map((id) => byId.get(id)!.status),
      [...new Set(part.map((id) => Math.floor(id / 128)))],
    ]);
    for (const { id, status } of rows) changed.push({ conversation: byId.get(id)!, status });
  }
  return changed;
}
