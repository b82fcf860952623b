/**
 * Reads the partner's events. A newer service may have types and values that this version does not know. An event with
 * one of these must not end a loop over the events, so the event is an `UnknownEvent`.
 */
import { ResponseError } from './errors.ts';
import type {
  ConversationEnded,
  EventHead,
  EventPage,
  EventSubject,
  IncomeVerified,
  PartnerEvent,
  PushedEvent,
} from './events.ts';
import { integer, type JsonObject, list, object, oneOf, text, texts, unexpected } from './read-json.ts';
import type { ApplicationStatus, MessageType } from './wire.ts';

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
      const reasonCodes = texts(data.reason_codes, 'reason_codes');
      return { ...head, type, data: { ...readSubject(data), from, to, reasonCode, reasonCodes } };
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
