/** Example answers of the requests that read events and one application (D41), rendered as real answers are. */
import { toApplicationId } from '../applications/rules/ids.ts';
import type { Language } from '../base/language.ts';
import type { EventId, PartnerEvent } from '../events/rules/event.ts';
import { toPartnerId } from '../partners/rules/credential.ts';
import { renderApplication, renderFeed } from './partner-reads.ts';

const ID_NUMBER = '1020304050';
const ID = toApplicationId(346);
const at = (time: string) => new Date(`2026-11-22T${time}Z`);

/** The id of an event, as it looks; no vault made it. */
const exampleId = (text: string) => text as EventId;
const IDS = [
  exampleId('evt_AAAAAAAAAAHTlFh8eJxOBS2yjxQ'),
  exampleId('evt_AAAAAAAAAAIfP2m0b1kq8x9WcVE'),
  exampleId('evt_AAAAAAAAAAOa7LkPz5tQ3vRnD2U'),
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
  },
];

function common(number: 1 | 2 | 3, time: string) {
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
  const page = { events: EXAMPLE_EVENTS, next: IDS[2], hasMore: false };
  return { page: JSON.parse(renderFeed(page)), end: JSON.parse(renderFeed({ ...page, events: [] })) };
}

/** An application that was approved in a review. */
export function applicationExample(language: Language): object {
  const application = {
    id: ID,
    idNumber: ID_NUMBER,
    score: 47,
    decision: 'in_review',
    status: 'pending_signature',
    createdAt: at('09:12:00'),
    updatedAt: at('15:45:10.250'),
  } as const;
  return JSON.parse(renderApplication(application, language));
}
