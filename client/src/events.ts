/**
 * The partner's events, in this package's names. A newer service may have types and values that this version does not
 * know. An event with one of these must not end a loop over the events, so the event is an `UnknownEvent`.
 */
import { ResponseError } from './errors.ts';
import { integer, type JsonObject, list, object, oneOf, text, unexpected } from './read-json.ts';
import type { ApplicationStatus, MessageType } from './wire.ts';

/** Why an operator changed the status. A newer service may know more codes. */
export type ReasonCode =
  | 'documents_verified'
  | 'income_verified'
  | 'exception_granted'
  | 'documents_missing'
  | 'documents_invalid'
  | 'identity_not_verified'
  | 'income_not_verified'
  | 'insufficient_capacity'
  | 'suspected_fraud'
  | 'applicant_withdrew'
  | 'contract_withdrawn'
  | 'offer_expired'
  | 'data_erased'
  | 'funds_transferred'
  | 'unspecified';

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

const STATUSES: Readonly<Record<string, ApplicationStatus>> = {
  pending_signature: 'pending_signature',
  in_review: 'in_review',
  rejected: 'rejected',
  disbursed: 'disbursed',
};
const MESSAGE_TYPES: Readonly<Record<string, MessageType>> = {
  approved: 'approved',
  offer: 'offer',
  rejected: 'rejected',
};

const INCOME_OUTCOMES: Readonly<Record<string, IncomeVerified['data']['outcome']>> = {
  confirmed: 'confirmed',
  adjusted: 'adjusted',
  operator: 'operator',
};
const ENDS: Readonly<Record<string, ConversationEnded['data']['outcome']>> = {
  signed: 'signed',
  declined: 'declined',
  withdrawn: 'withdrawn',
  expired: 'expired',
  closed: 'closed',
};

/** Reads an answer of the feed. Throws `ResponseError`. */
export function readPage(value: unknown): EventPage {
  const root = object(value, 'the answer');
  const events = list(root.events, 'events').map(readEvent);
  const next = text(root.next, 'next');
  const hasMore = root.has_more;
  // Without this check a page that never advances would make a loop without a wait.
  if (typeof hasMore !== 'boolean' || (hasMore && events.length === 0)) throw unexpected('has_more');
  return { events, next, hasMore };
}

/** Reads an event of the feed. Throws `ResponseError` where the value lacks a field of every event. */
function readEvent(value: unknown): PartnerEvent {
  const sent = object(value, 'an event');
  const head: EventHead = { id: text(sent.id, 'id'), timestamp: text(sent.timestamp, 'timestamp') };
  const sentType = text(sent.type, 'type');
  const data = object(sent.data, 'data');
  try {
    const known = readKnown(head, sentType, data);
    if (known !== null) return known;
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
  }
  return { ...head, type: 'unknown', sentType, data };
}

/** Reads a pushed event. Throws `ResponseError` where the value lacks a field of every event. */
export function readPushed(value: unknown): PushedEvent {
  const event = readEvent(value);
  if (event.type !== 'unknown' || event.sentType !== 'endpoint.test') return event;
  const { id, timestamp, data } = event;
  return { id, timestamp, type: 'endpoint.test', data };
}

function readKnown(head: EventHead, type: string, data: JsonObject): PartnerEvent | null {
  switch (type) {
    case 'application.status_changed': {
      const from = oneOf(STATUSES, data.from, 'from');
      const to = oneOf(STATUSES, data.to, 'to');
      const reasonCode = text(data.reason_code, 'reason_code');
      return { ...head, type, data: { ...readSubject(data), from, to, reasonCode } };
    }
    case 'application.interested':
      return { ...head, type, data: readSubject(data) };
    case 'conversation.started':
    case 'documents.received':
    case 'contract.signed':
    case 'contract.withdrawn':
      return { ...head, type, data: readSubject(data) };
    case 'income.verified': {
      const outcome = oneOf(INCOME_OUTCOMES, data.outcome, 'outcome');
      return { ...head, type, data: { ...readSubject(data), outcome } };
    }
    case 'conversation.ended': {
      const outcome = oneOf(ENDS, data.outcome, 'outcome');
      return { ...head, type, data: { ...readSubject(data), outcome } };
    }
    case 'message.failed': {
      const message = oneOf(MESSAGE_TYPES, data.message, 'message');
      return { ...head, type, data: { ...readSubject(data), message } };
    }
    default:
      return null;
  }
}

function readSubject({ id, id_number }: JsonObject): EventSubject {
  return { id: integer(id, 'id'), idNumber: id_number === null ? null : text(id_number, 'id_number') };
}
