/** Example answers of the requests that read events and applications (D41, D56), rendered as real answers are. Pure. */
import { toApplicationId } from '../../domain/application/ids.ts';
import { type EventId, type PartnerEvent, UNASKED_EVENT_TYPES } from '../../domain/event/event.ts';
import { type Environment, toPartnerId } from '../../domain/partner/credential.ts';
import type { Language } from '../../ground/base/language.ts';
import { renderApplication, renderFeed } from './partner-reads.ts';
import { renderFound } from './partner-search.ts';
import { NAMES } from './response.ts';

const ID_NUMBER = '1020304050';
const REASON_CODES = ['capacity_below_1_5', 'debt_1_year', 'two_debts'];
const ID = toApplicationId(346);
const at = (time: string) => new Date(`2026-11-22T${time}Z`);

/** The id of an event, as it looks; no vault made it. */
const exampleId = (text: string) => text as EventId;
const IDS = [
  exampleId('evt_AAAAAAAAAAHTlFh8eJxOBS2yjxQ'),
  exampleId('evt_AAAAAAAAAAIfP2m0b1kq8x9WcVE'),
  exampleId('evt_AAAAAAAAAAOa7LkPz5tQ3vRnD2U'),
  exampleId('evt_AAAAAAAAAAQ1mXc0Zr8yT4uHb6E'),
  exampleId('evt_AAAAAAAAAAWk2Yd9Qs7xV5tJc1I'),
  exampleId('evt_AAAAAAAAAAaB3Ze8Rp6wU6sKd2M'),
  exampleId('evt_AAAAAAAAAAcS4Xf7To5vW7rLe3Q'),
  exampleId('evt_AAAAAAAAAAg35Wg6Un4uX8qMf4U'),
  exampleId('evt_AAAAAAAAAAk-6Vh5Vm3tY9pNg5Y'),
] as const;

/** An event of each type, oldest first. */
export const EXAMPLE_EVENTS: readonly PartnerEvent[] = [
  {
    ...common(1, '10:00:00'),
    type: 'message.failed',
    message: 'offer',
  },
  { ...common(2, '11:30:00'), type: 'application.interested' },
  {
    ...common(3, '15:45:10.250'),
    type: 'application.status_changed',
    from: 'in_review',
    to: 'pending_signature',
    reasonCode: 'documents_verified',
    reasonCodes: REASON_CODES,
  },
  { ...common(4, '15:50:00'), type: 'conversation.started' },
  { ...common(5, '15:58:00'), type: 'documents.received' },
  { ...common(6, '15:58:04'), type: 'income.verified', outcome: 'confirmed' },
  { ...common(7, '16:07:30'), type: 'contract.signed' },
  { ...common(8, '16:07:30'), type: 'conversation.ended', outcome: 'signed' },
  { ...common(9, '17:20:00'), type: 'contract.withdrawn' },
];
/** The events that the feed shows to a request without types. */
const UNASKED = EXAMPLE_EVENTS.filter(({ type }) => UNASKED_EVENT_TYPES.includes(type));

function common(number: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9, time: string) {
  return {
    id: IDS[number - 1]!,
    partnerId: toPartnerId(1),
    number,
    at: at(time),
    applicationId: ID,
    idNumber: ID_NUMBER,
  };
}

/** A page with events, and the page after the last one. */
export function feedExamples(): { readonly page: object; readonly end: object } {
  const page = { events: UNASKED, next: IDS[2], hasMore: false };
  return { page: JSON.parse(renderFeed(page)), end: JSON.parse(renderFeed({ ...page, events: [] })) };
}

/** An application that was approved in a review, and whose contract is signed. */
export function applicationExample(language: Language): object {
  return JSON.parse(renderApplication(APPLICATION, language));
}

const APPLICATION = {
  id: ID,
  idNumber: ID_NUMBER,
  score: 47,
  decision: 'in_review',
  status: 'pending_signature',
  reasonCode: 'documents_verified',
  reasonCodes: REASON_CODES,
  signedAt: at('16:07:30'),
  withdrawnAt: null,
  createdAt: at('09:12:00'),
  updatedAt: at('15:45:10.250'),
} as const;

const NEXT = 'pag_AAAAAAAAAAHTlFh8eJxOBS2yjxQ';

/** A search for a person, in another spelling, and two pages of a day. */
export function searchExamples(language: Language): Readonly<Record<'person' | 'day' | 'next', object>> {
  return {
    person: { [NAMES[language].id_number]: 'CC 1.020.304.050' },
    day: { day: '2026-11-22', limit: 1 },
    next: { day: '2026-11-22', limit: 1, cursor: NEXT },
  };
}

/** A page after which there is another one, and the last one. */
export function foundExamples(
  environment: Environment,
  language: Language,
): Readonly<Record<string, object>> {
  const page = { applications: [APPLICATION], unreadable: [], next: NEXT };
  const last = { applications: [], unreadable: [], next: null };
  const render = (found: typeof page | typeof last) => JSON.parse(renderFound(found, language, environment));
  return environment === 'DEV' ? { last: render(last) } : { page: render(page), last: render(last) };
}
