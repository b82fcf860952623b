/**
 * Reads the query of the feed, and renders the answers about a partner's events and applications (D24, D25, D41, D47).
 * Pure.
 */
import type { ApplicationId } from '../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../domain/application/reason-codes.ts';
import {
  type EventId,
  PARTNER_EVENT_TYPES,
  type PartnerEvent,
  type PartnerEventType,
  UNASKED_EVENT_TYPES,
} from '../../domain/event/event.ts';
import type { Decision } from '../../domain/scorecard/scorecard.ts';
import { optionalTime, withOffset } from '../../ground/base/clock.ts';
import type { Language } from '../../ground/base/language.ts';
import { renderPartnerEvent } from './partner-event.ts';
import { RequestError } from './request.ts';
import { DECISION_NAMES, LATER_STATUS_NAMES, NAMES } from './response.ts';
import { DEFAULT_EVENTS, MAX_EVENTS } from './texts.ts';

/** Which page of the feed a request asks for. */
export interface FeedQuery {
  /** null: from the oldest event that is kept. */
  readonly after: string | null;
  readonly limit: number;
  readonly types: readonly PartnerEventType[];
}

/** Reads the query of the feed; a parameter that occurs several times is an array. Throws `RequestError`. */
export function readFeedQuery({ after, limit, types }: Readonly<Record<string, unknown>>): FeedQuery {
  if (after !== undefined && typeof after !== 'string') throw new RequestError('bad_cursor');
  return { after: after ?? null, limit: readLimit(limit), types: readTypes(types) };
}

/** The types, with commas between them (D47). Without the parameter: those that a partner gets without asking. */
function readTypes(text: unknown): readonly PartnerEventType[] {
  if (text === undefined) return UNASKED_EVENT_TYPES;
  const names = typeof text === 'string' ? text.split(',') : [];
  const types = PARTNER_EVENT_TYPES.filter((type) => names.includes(type));
  if (types.length === 0 || types.length !== names.length) throw new RequestError('bad_types');
  return types;
}

function readLimit(text: unknown): number {
  if (text === undefined) return DEFAULT_EVENTS;
  const limit = typeof text === 'string' && /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_EVENTS) throw new RequestError('bad_limit');
  return limit;
}

interface FeedAnswer {
  readonly events: readonly PartnerEvent[];
  readonly next: EventId;
  readonly hasMore: boolean;
}

/** A page of the feed, as JSON text. Its names are English in every language. */
export function renderFeed({ events, next, hasMore }: FeedAnswer): string {
  return JSON.stringify({ events: events.map(renderPartnerEvent), next, has_more: hasMore });
}

/** One application as its partner is told. */
export interface ApplicationAnswer {
  readonly id: ApplicationId;
  readonly idNumber: string | null;
  readonly score: number;
  readonly decision: Decision;
  readonly status: ApplicationStatus;
  readonly reasonCode: ReasonCode | string | null;
  readonly reasonCodes: readonly string[];
  readonly signedAt: Date | null;
  readonly withdrawnAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** One application, as JSON text. */
export function renderApplication(application: ApplicationAnswer, language: Language): string {
  return JSON.stringify(applicationMembers(application, language));
}

/** The members of one application, with the names and values of D24 and D25. */
export function applicationMembers(application: ApplicationAnswer, language: Language): object {
  const names = NAMES[language];
  return {
    id: application.id,
    [names.id_number]: application.idNumber,
    score: application.score,
    decision: DECISION_NAMES[language][application.decision],
    [names.status]: LATER_STATUS_NAMES[language][application.status],
    reason_code: application.reasonCode,
    reason_codes: application.reasonCodes,
    signed_at: optionalTime(application.signedAt),
    withdrawn_at: optionalTime(application.withdrawnAt),
    created_at: withOffset(application.createdAt),
    updated_at: withOffset(application.updatedAt),
  };
}
