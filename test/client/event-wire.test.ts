/** The client's events, compared with what the service renders, and with what a later service may render (D41). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type {
  ApplicationStatus,
  ConversationEnded,
  IncomeVerified,
  LimitCode,
  MessageFailed,
  PartnerEvent,
  ReasonCode,
  StatusChanged,
} from '../../client/src/index.ts';
import { readPage } from '../../client/src/read-events.ts';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import * as lifecycle from '../../src/domain/application/lifecycle.ts';
import type { ReasonCode as ServiceReasonCode } from '../../src/domain/application/reason-codes.ts';
import {
  CONVERSATION_ENDS,
  type ConversationEnd,
  type EventId,
  INCOME_OUTCOMES,
  type IncomeOutcome,
  PARTNER_EVENT_TYPES,
  type PartnerEventType,
  type PartnerEvent as ServiceEvent,
} from '../../src/domain/event/event.ts';
import { OUTCOME_TYPES, type OutcomeType } from '../../src/domain/message/notify.ts';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import type { LimitCode as ServiceLimitCode } from '../../src/domain/scorecard/scorecard.ts';
import { renderPartnerEvent } from '../../src/wire/contract/partner-event.ts';

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
// The type check fails here where a table of the service changes and the client's types do not.
const SAME: [
  Same<Exclude<PartnerEvent['type'], 'unknown'>, PartnerEventType>,
  Same<ApplicationStatus, lifecycle.ApplicationStatus>,
  Same<StatusChanged['data']['to'], lifecycle.ApplicationStatus>,
  Same<MessageFailed['data']['message'], OutcomeType>,
  Same<ReasonCode, ServiceReasonCode>,
  Same<LimitCode, ServiceLimitCode>,
  Same<IncomeVerified['data']['outcome'], IncomeOutcome>,
  Same<ConversationEnded['data']['outcome'], ConversationEnd>,
] = [true, true, true, true, true, true, true, true];
const OF_CONVERSATION = [
  'conversation.started',
  'documents.received',
  'contract.signed',
  'contract.withdrawn',
] as const;

const read = (event: unknown) => readPage({ events: [event], next: 'evt_2', has_more: false }).events[0];

it('the client reads every event that the service renders, with every status and type of message', () => {
  assert.ok(SAME.every(Boolean));
  const about = {
    id: 'evt_1' as EventId,
    partnerId: toPartnerId(1),
    number: 1,
    at: new Date('2026-11-22T10:00:00Z'),
    applicationId: toApplicationId(346),
  };
  const head = { id: 'evt_1', timestamp: '2026-11-22T10:00:00.000+00:00' };
  for (const idNumber of ['1020304050', null]) {
    const subject = { id: 346, idNumber };
    const change = {
      from: 'in_review' as const,
      reasonCode: 'documents_verified' as const,
      reasonCodes: ['no_history'],
    };
    const cases: [ServiceEvent, Partial<PartnerEvent>][] = [
      [
        { ...about, idNumber, type: 'application.interested' },
        { type: 'application.interested', data: subject },
      ],
      ...lifecycle.APPLICATION_STATUSES.map((to): [ServiceEvent, Partial<PartnerEvent>] => [
        { ...about, idNumber, type: 'application.status_changed', to, ...change },
        { type: 'application.status_changed', data: { ...subject, to, ...change } },
      ]),
      ...OUTCOME_TYPES.map((message): [ServiceEvent, Partial<PartnerEvent>] => [
        { ...about, idNumber, type: 'message.failed', message },
        { type: 'message.failed', data: { ...subject, message } },
      ]),
      ...OF_CONVERSATION.map((type): [ServiceEvent, Partial<PartnerEvent>] => [
        { ...about, idNumber, type },
        { type, data: subject },
      ]),
      ...INCOME_OUTCOMES.map((outcome): [ServiceEvent, Partial<PartnerEvent>] => [
        { ...about, idNumber, type: 'income.verified', outcome },
        { type: 'income.verified', data: { ...subject, outcome } },
      ]),
      ...CONVERSATION_ENDS.map((outcome): [ServiceEvent, Partial<PartnerEvent>] => [
        { ...about, idNumber, type: 'conversation.ended', outcome },
        { type: 'conversation.ended', data: { ...subject, outcome } },
      ]),
    ];
    assert.deepEqual(new Set(cases.map(([{ type }]) => type)), new Set(PARTNER_EVENT_TYPES));
    for (const [event, expected] of cases) {
      assert.deepEqual(read(JSON.parse(JSON.stringify(renderPartnerEvent(event)))), { ...head, ...expected });
    }
  }
});

it('an event of an unknown type, or with unknown values, comes as it was sent and ends no loop', () => {
  const head = { id: 'evt_1', timestamp: '2026-11-22T10:00:00.000+00:00' };
  const data = { id: 3, id_number: null };
  const change = { ...data, from: 'in_review', to: 'rejected', reason_code: 'a_new_reason' };
  const unknown: [sentType: string, data: object][] = [
    ['application.expired', { days: 30 }],
    ['application.status_changed', { ...change, to: 'on_hold' }],
    ['application.interested', { ...data, id: '3' }],
    ['message.failed', { ...data, message: 'reminder' }],
    ['toString', {}],
  ];
  for (const [sentType, sent] of unknown) {
    const event = { ...head, type: sentType, data: sent };
    assert.deepEqual(read(event), { ...head, type: 'unknown', sentType, data: sent });
  }
  const subject = { id: 3, idNumber: null };
  assert.deepEqual(read({ ...head, type: 'application.interested', data: { ...data, more: 1 }, other: 2 }), {
    ...head,
    type: 'application.interested',
    data: subject,
  });
  assert.deepEqual(read({ ...head, type: 'application.status_changed', data: change }), {
    ...head,
    type: 'application.status_changed',
    data: { ...subject, from: 'in_review', to: 'rejected', reasonCode: 'a_new_reason', reasonCodes: [] },
  });
});
