/** The events of conversations (D47), stored in the transaction of what happened. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type {
  CONVERSATION_EVENT_TYPES,
  ConversationEnd,
  IncomeOutcome,
} from '../../../domain/event/event.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';

/** An event of a conversation. */
export interface NewConversationEvent {
  readonly event: (typeof CONVERSATION_EVENT_TYPES)[number];
  readonly partnerId: PartnerId;
  readonly applicationId: ApplicationId;
  readonly outcome?: IncomeOutcome | ConversationEnd;
}

const LOCK = `
  SELECT FROM partner_event_totals WHERE partner_id = ANY ($1::integer[]) ORDER BY partner_id FOR NO KEY UPDATE`;

/**
 * Takes the locks of these partners' events in their order, for a transaction that writes events in several statements.
 * They are the last locks that a transaction takes.
 */
export async function lockPartnerEvents(
  session: Transaction,
  partnerIds: readonly PartnerId[],
): Promise<void> {
  await session.query(LOCK, [partnerIds]);
}

const ADD = 'SELECT write_partner_events($1::partner_event_type[], $2, $3, NULL, NULL, NULL, NULL, $4)';

/** Stores events in their order. Its locks are the last ones that a transaction takes. */
export async function addConversationEvents(
  session: Transaction,
  events: readonly NewConversationEvent[],
): Promise<void> {
  if (events.length === 0) return;
  await session.query(ADD, [
    events.map(({ event }) => event),
    events.map(({ partnerId }) => partnerId),
    events.map(({ applicationId }) => applicationId),
    events.map(({ outcome }) => outcome ?? null),
  ]);
}
