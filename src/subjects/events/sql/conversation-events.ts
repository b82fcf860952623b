/**
 * Stores the events of conversations in the transaction of what happened (D47). Locks `partner_event_totals`; writes
 * `partner_events` by `write_partner_events`.
 */
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
 * These have to be the last locks of the transaction.
 */
export async function lockPartnerEvents(
  session: Transaction,
  partnerIds: readonly PartnerId[],
): Promise<void> {
  await session.query(LOCK, [partnerIds]);
}

const ADD = 'SELECT write_partner_events($1::partner_event_type[], $2, $3, NULL, NULL, NULL, NULL, $4)';

/** Stores events in their order. Its locks have to be the last ones of the transaction. */
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
