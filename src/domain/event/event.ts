/**
 * The types of partner events: what changes on a partner's application after its registration (D41, D47). Types and
 * lists alone.
 */
import type { ApplicationId } from '../application/ids.ts';
import type { ApplicationStatus } from '../application/lifecycle.ts';
import type { ReasonCode } from '../application/reason-codes.ts';
import type { OutcomeType } from '../message/notify.ts';
import type { PartnerId } from '../partner/credential.ts';

declare const EVENT: unique symbol;

/**
 * The id of an event as partners see it. It is also the cursor that continues after the event. Only the vault makes
 * one.
 */
export type EventId = string & { readonly [EVENT]: true };

export const PARTNER_EVENT_TYPES = [
  'application.status_changed',
  'application.interested',
  'message.failed',
  'conversation.started',
  'documents.received',
  'income.verified',
  'contract.signed',
  'contract.withdrawn',
  'conversation.ended',
] as const;
export type PartnerEventType = (typeof PARTNER_EVENT_TYPES)[number];

/** The events of conversations. A partner gets them only if it asks for them (D47). */
export const CONVERSATION_EVENT_TYPES = [
  'conversation.started',
  'documents.received',
  'income.verified',
  'contract.signed',
  'contract.withdrawn',
  'conversation.ended',
] as const satisfies readonly PartnerEventType[];

/** The types that a partner gets without asking. */
export const UNASKED_EVENT_TYPES: readonly PartnerEventType[] = PARTNER_EVENT_TYPES.filter(
  (type) => !(CONVERSATION_EVENT_TYPES as readonly PartnerEventType[]).includes(type),
);

/** What was found about the income. */
export const INCOME_OUTCOMES = ['confirmed', 'adjusted', 'operator'] as const;
export type IncomeOutcome = (typeof INCOME_OUTCOMES)[number];

/** How a conversation ended. */
export const CONVERSATION_ENDS = ['signed', 'declined', 'withdrawn', 'expired', 'closed'] as const;
export type ConversationEnd = (typeof CONVERSATION_ENDS)[number];

interface OfAnyType {
  readonly id: EventId;
  readonly partnerId: PartnerId;
  /** The events of a partner have the numbers 1, 2, 3 and so on, in the order of their commits. */
  readonly number: number;
  readonly at: Date;
  readonly applicationId: ApplicationId;
  /** null if the applicant's data is erased or cannot be read. */
  readonly idNumber: string | null;
}

interface StatusChanged extends OfAnyType {
  readonly type: 'application.status_changed';
  readonly from: ApplicationStatus;
  readonly to: ApplicationStatus;
  readonly reasonCode: ReasonCode;
  /** The reasons of the decision by the score, as `GET /PRO/applications/{id}` has them; empty of an approval (D50). */
  readonly reasonCodes: readonly string[];
}

interface Interested extends OfAnyType {
  readonly type: 'application.interested';
}

interface MessageFailed extends OfAnyType {
  readonly type: 'message.failed';
  readonly message: OutcomeType;
}

interface OfConversation extends OfAnyType {
  readonly type: 'conversation.started' | 'documents.received' | 'contract.signed' | 'contract.withdrawn';
}

interface IncomeVerified extends OfAnyType {
  readonly type: 'income.verified';
  readonly outcome: IncomeOutcome;
}

interface ConversationEnded extends OfAnyType {
  readonly type: 'conversation.ended';
  readonly outcome: ConversationEnd;
}

export type PartnerEvent =
  | StatusChanged
  | Interested
  | MessageFailed
  | OfConversation
  | IncomeVerified
  | ConversationEnded;
