/** The partner's events, in this package's names. */
import type { ApplicationStatus, MessageType, ReasonCode } from './wire.ts';

/** The application that an event is about. */
export interface EventSubject {
  /** The application's identifier, as `Registered.id`. */
  id: number;
  /** null where the applicant's data was erased. */
  idNumber: string | null;
}

/** What every event has. */
export interface EventHead {
  /** Unique, and the cursor for `after`. The same event pushed again has the same `id`. */
  id: string;
  /** ISO 8601 with a UTC offset. */
  timestamp: string;
}

/** An operator approved, rejected or disbursed an application. */
export interface StatusChanged extends EventHead {
  type: 'application.status_changed';
  data: EventSubject & {
    from: ApplicationStatus;
    to: ApplicationStatus;
    reasonCode: ReasonCode | (string & Record<never, never>);
    /** As `ApplicationState.reasonCodes`. Empty also where the service is older than 1.1. */
    reasonCodes: string[];
  };
}

/** The applicant tapped "I am interested" for the first time. */
export interface Interested extends EventHead {
  type: 'application.interested';
  data: EventSubject;
}

/** A message to the applicant failed. */
export interface MessageFailed extends EventHead {
  type: 'message.failed';
  data: EventSubject & { message: MessageType };
}

/** Something of the conversation with the applicant. You hear of it only where you ask for it (`types`). */
export interface OfConversation extends EventHead {
  type: 'conversation.started' | 'documents.received' | 'contract.signed' | 'contract.withdrawn';
  data: EventSubject;
}

/** The income was checked. */
export interface IncomeVerified extends EventHead {
  type: 'income.verified';
  data: EventSubject & { outcome: 'confirmed' | 'adjusted' | 'operator' };
}

/** The conversation ended. */
export interface ConversationEnded extends EventHead {
  type: 'conversation.ended';
  data: EventSubject & { outcome: 'signed' | 'declined' | 'withdrawn' | 'expired' | 'closed' };
}

/** An event that this version of the package does not know. */
export interface UnknownEvent extends EventHead {
  type: 'unknown';
  /** The type that the service sent. */
  sentType: string;
  /** As the service sent it, in the service's names. */
  data: Readonly<Record<string, unknown>>;
}

/** A push that the operator sent to try out your endpoint. The push is about no application, and is not in the feed. */
export interface EndpointTest extends EventHead {
  type: 'endpoint.test';
  data: Readonly<Record<string, unknown>>;
}

/** An event about one of the partner's applications. */
export type PartnerEvent =
  | StatusChanged
  | Interested
  | MessageFailed
  | OfConversation
  | IncomeVerified
  | ConversationEnded
  | UnknownEvent;

/** The types of events that this package knows. */
export type EventType = Exclude<PartnerEvent['type'], 'unknown'>;

/** What the service pushes. */
export type PushedEvent = PartnerEvent | EndpointTest;

/** One answer of the feed. */
export interface EventPage {
  readonly events: readonly PartnerEvent[];
  /** The cursor for the next request. */
  readonly next: string;
  readonly hasMore: boolean;
}
