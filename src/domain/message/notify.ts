/**
 * Decides which registrations lead to a message, and its type (contract, "Events"; D31, D32). Has the statuses of
 * messages too. Pure.
 */
import type { Application } from '../application/fields.ts';
import type { Decision } from '../scorecard/scorecard.ts';

/** The types that tell the outcome of an application: the types that partners know. */
export const OUTCOME_TYPES = ['approved', 'offer', 'rejected'] as const;
export type OutcomeType = (typeof OUTCOME_TYPES)[number];

/** All types. A `reminder` asks the applicant to continue the conversation, whose window at the channel is closed. */
export const MESSAGE_TYPES = [...OUTCOME_TYPES, 'reminder'] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** The statuses of a message (docs/messages.md); `settle.ts` has the moves between them. */
export const MESSAGE_STATUSES = [
  'queued',
  'sending',
  'accepted',
  'sent',
  'delivered',
  'read',
  'failed',
  'uncertain',
  'cancelled',
] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

const TYPE_OF_DECISION: Readonly<Record<Decision, OutcomeType>> = {
  approved: 'approved',
  in_review: 'offer',
  rejected: 'rejected',
};

/** Template names by message type, from the key's brand configuration. */
export type Templates = Readonly<Record<MessageType, string>>;

export const DEFAULT_TEMPLATES: Templates = {
  approved: 'ventanilla_approved',
  offer: 'ventanilla_offer',
  rejected: 'ventanilla_rejected',
  reminder: 'ventanilla_reminder',
};

/** Whether messages of a type carry the debt balance and the button "I am interested" (D31). */
export function isOffering(type: MessageType): boolean {
  return type === 'approved' || type === 'offer';
}

/** The type of a registration's message; null without consent or without a phone. */
export function messageType(application: Application, decision: Decision): OutcomeType | null {
  return application.messaging_optin && application.phone !== null ? TYPE_OF_DECISION[decision] : null;
}
