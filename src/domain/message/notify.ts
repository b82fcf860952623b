/**
 * Decides which registrations lead to a message, and its type (contract, "Events"; D31, D32). Has the statuses of
 * messages too. Pure.
 */
import type { Country } from '../../ground/base/country-data.ts';
import type { Application } from '../application/fields.ts';
import { countryOfPhone, type Phone } from '../phone/phone.ts';
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

/** The templates: one a type, and the one of a `rejected` message that tells the reasons (D50). */
export const TEMPLATE_KINDS = [...MESSAGE_TYPES, 'rejected_reasons'] as const;
export type TemplateKind = (typeof TEMPLATE_KINDS)[number];

/** Template names, from the key's brand configuration. */
export type Templates = Readonly<Record<TemplateKind, string>>;

export const DEFAULT_TEMPLATES: Templates = {
  approved: 'ventanilla_approved',
  offer: 'ventanilla_offer',
  rejected: 'ventanilla_rejected',
  reminder: 'ventanilla_reminder',
  rejected_reasons: 'ventanilla_rejected_reasons',
};

/** Whether messages of a type carry the debt balance and the button "I am interested" (D31). */
export function isOffering(type: TemplateKind): boolean {
  return type === 'approved' || type === 'offer';
}

/** The type of a registration's message; null without consent or without a phone. */
export function messageType(application: Application, decision: Decision): OutcomeType | null {
  return application.messaging_optin && application.phone !== null ? TYPE_OF_DECISION[decision] : null;
}

// Which rejections tell their reasons (D50).

/**
 * The countries whose law asks that whoever is refused a financial service is told why, in writing and by objective
 * conditions: Chile, Ley 20.555 in Ley 19.496, article 3. Brazil asks for it on request (LGPD, article 20), which the
 * chat answers.
 */
const REASONS_BY_LAW: readonly Country[] = ['CL'];

/** Whether the `rejected` message to a phone tells the reasons. `setting`: that of the brand. */
export function tellsReasons(setting: boolean | undefined, phone: Phone): boolean {
  const country = countryOfPhone(phone);
  return setting === true || (country !== null && REASONS_BY_LAW.includes(country));
}

/**
 * The template that `would_notify` names: what the brand says (D32). Where a law alone asks for the reasons, the name
 * stays the contract's, although the message tells them.
 */
export function templateKindOf(type: MessageType, setting: boolean | undefined): TemplateKind {
  return type === 'rejected' && setting === true ? 'rejected_reasons' : type;
}
