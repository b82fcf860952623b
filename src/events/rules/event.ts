/** Partner events: what changes on a partner's application after its registration (D41). */

import type { ApplicationId } from '../../applications/rules/ids.ts';
import type { ApplicationStatus } from '../../applications/rules/lifecycle.ts';
import type { ReasonCode } from '../../applications/rules/reason-codes.ts';
import type { OutcomeType } from '../../messages/rules/notify.ts';
import type { PartnerId } from '../../partners/rules/credential.ts';

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
] as const;
export type PartnerEventType = (typeof PARTNER_EVENT_TYPES)[number];

interface OfAnyType {
  readonly id: EventId;
  readonly partnerId: PartnerId;
  /** The events of a partner have the numbers 1, 2, 3 and so on, in the order of their commits. */
  readonly number: number;
  readonly at: Date;
  readonly applicationId: ApplicationId;
  /** null where the applicant's data is erased or cannot be read. */
  readonly idNumber: string | null;
}

interface StatusChanged extends OfAnyType {
  readonly type: 'application.status_changed';
  readonly from: ApplicationStatus;
  readonly to: ApplicationStatus;
  readonly reasonCode: ReasonCode;
}

interface Interested extends OfAnyType {
  readonly type: 'application.interested';
}

interface MessageFailed extends OfAnyType {
  readonly type: 'message.failed';
  readonly message: OutcomeType;
}

export type PartnerEvent = StatusChanged | Interested | MessageFailed;
