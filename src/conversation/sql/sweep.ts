/** Looks for what changed beside the conversations: the status of their applications, and who wants no messages. */
import { type ApplicationId, partitionOf, toApplicationId } from '../../applications/rules/ids.ts';
import type { ApplicationStatus } from '../../applications/rules/lifecycle.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';
import type { Session } from '../../postgres/database.ts';
import type { ConversationId } from './conversations.ts';

/** An open conversation, and what it knows of its application. */
interface OpenConversation {
  readonly id: ConversationId;
  readonly applicationId: ApplicationId;
  readonly status: ApplicationStatus;
}

const CHUNK = 5_000;
const OPEN = `
  SELECT id, application_id, status FROM conversations
  WHERE ended_at IS NULL AND application_id > $1 ORDER BY application_id LIMIT ${CHUNK}`;

/** All open conversations, 5,000 at a time. */
export async function* openConversations(
  session: Session,
): AsyncGenerator<OpenConversation[], void, undefined> {
  for (let after = '0'; ; ) {
    const { rows }: { rows: { id: ConversationId; application_id: string; status: ApplicationStatus }[] } =
      await session.query(OPEN, [after]);
    if (rows.length > 0) {
      yield rows.map(({ id, application_id, status }) => ({
        id,
        applicationId: toApplicationId(application_id),
        status,
      }));
    }
    if (rows.length < CHUNK) return;
    after = rows.at(-1)!.application_id;
  }
}

/** Every application with a conversation has its state in a row (`mark_conversations`). */
const CHANGED = `
  SELECT s.application_id, s.status FROM unnest($1::bigint[], $2::application_status[]) AS u(id, status)
  JOIN application_states s ON s.batch_id = batch_of(u.id) AND s.application_id = u.id AND s.batch_id = ANY ($3::bigint[])
  WHERE s.status <> u.status`;

/** Those of these whose application has another status now, with that status. */
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
    const { rows } = await session.query<{ application_id: string; status: ApplicationStatus }>(CHANGED, [
      part,
      part.map((id) => byId.get(id)!.status),
      [...new Set(part.map((id) => Math.floor(id / 128)))],
    ]);
    for (const { application_id, status } of rows) {
      changed.push({ conversation: byId.get(toApplicationId(application_id))!, status });
    }
  }
  return changed;
}

const OPTED_OUT = `
  SELECT c.id, c.application_id FROM conversations c JOIN suppressions s ON s.phone_index = c.phone_index
  WHERE c.ended_at IS NULL AND s.active`;

/** The open conversations whose phone wants no messages, whoever said so. */
export async function optedOut(
  session: Session,
): Promise<{ readonly id: ConversationId; readonly applicationId: ApplicationId }[]> {
  const { rows } = await session.query<{ id: ConversationId; application_id: string }>(OPTED_OUT);
  return rows.map(({ id, application_id }) => ({ id, applicationId: toApplicationId(application_id) }));
}
