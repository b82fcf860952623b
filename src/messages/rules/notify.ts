/** Decides which registrations lead to a message, and its type (contract, "Events"; D31, D32). */
import type { Application } from '../../applications/rules/fields.ts';
import type { Decision } from '../../applications/rules/scorecard.ts';

export const MESSAGE_TYPES = ['approved', 'offer', 'rejected'] as const;
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

const TYPE_OF_DECISION: Readonly<Record<Decision, MessageType>> = {
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
};

/** The type of a registration's message; null without consent or without a phone. */
export function messageType(application: Application, decision: Decision): MessageType | null {
  return application.messaging_optin && application.phone !== null ? TYPE_OF_DECISION[decision] : null;
}
