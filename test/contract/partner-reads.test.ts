/** The answers of D41 byte for byte, and the query of the feed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { PARTNER_EVENT_TYPES, UNASKED_EVENT_TYPES } from '../../src/domain/event/event.ts';
import { EXAMPLE_EVENTS } from '../../src/wire/contract/examples-reads.ts';
import { renderPartnerEvent } from '../../src/wire/contract/partner-event.ts';
import { readFeedQuery, renderApplication, renderFeed } from '../../src/wire/contract/partner-reads.ts';

const APPLICATION = {
  id: toApplicationId(346),
  idNumber: '1020304050',
  score: 47,
  decision: 'in_review',
  status: 'pending_signature',
  reasonCode: 'income_verified',
  reasonCodes: ['capacity_below_1_5', 'debt_1_year'],
  signedAt: new Date('2026-11-22T16:07:30Z'),
  withdrawnAt: null,
  createdAt: new Date('2026-11-22T09:12:00Z'),
  updatedAt: new Date('2026-11-22T15:45:10.250Z'),
} as const;

describe('D41: the JSON of events and applications', () => {
  it('an event has the same members in the same order, by its type', () => {
    assert.deepEqual(
      EXAMPLE_EVENTS.map((event) => JSON.stringify(renderPartnerEvent(event))),
      [
        '{"id":"evt_AAAAAAAAAAHTlFh8eJxOBS2yjxQ","type":"message.failed","timestamp":"2026-11-22T10:00:00.000+00:00","data":{"id":346,"id_number":"1020304050","message":"offer"}}',
        '{"id":"evt_AAAAAAAAAAIfP2m0b1kq8x9WcVE","type":"application.interested","timestamp":"2026-11-22T11:30:00.000+00:00","data":{"id":346,"id_number":"1020304050"}}',
        '{"id":"evt_AAAAAAAAAAOa7LkPz5tQ3vRnD2U","type":"application.status_changed","timestamp":"2026-11-22T15:45:10.250+00:00","data":{"id":346,"id_number":"1020304050","from":"in_review","to":"pending_signature","reason_code":"documents_verified","reason_codes":["capacity_below_1_5","debt_1_year","two_debts"]}}',
        '{"id":"evt_AAAAAAAAAAQ1mXc0Zr8yT4uHb6E","type":"conversation.started","timestamp":"2026-11-22T15:50:00.000+00:00","data":{"id":346,"id_number":"1020304050"}}',
        '{"id":"evt_AAAAAAAAAAWk2Yd9Qs7xV5tJc1I","type":"documents.received","timestamp":"2026-11-22T15:58:00.000+00:00","data":{"id":346,"id_number":"1020304050"}}',
        '{"id":"evt_AAAAAAAAAAaB3Ze8Rp6wU6sKd2M","type":"income.verified","timestamp":"2026-11-22T15:58:04.000+00:00","data":{"id":346,"id_number":"1020304050","outcome":"confirmed"}}',
        '{"id":"evt_AAAAAAAAAAcS4Xf7To5vW7rLe3Q","type":"contract.signed","timestamp":"2026-11-22T16:07:30.000+00:00","data":{"id":346,"id_number":"1020304050"}}',
        '{"id":"evt_AAAAAAAAAAg35Wg6Un4uX8qMf4U","type":"conversation.ended","timestamp":"2026-11-22T16:07:30.000+00:00","data":{"id":346,"id_number":"1020304050","outcome":"signed"}}',
        '{"id":"evt_AAAAAAAAAAk-6Vh5Vm3tY9pNg5Y","type":"contract.withdrawn","timestamp":"2026-11-22T17:20:00.000+00:00","data":{"id":346,"id_number":"1020304050"}}',
      ],
    );
  });

  it('a page has its events, the next cursor and whether there are more', () => {
    const { id: next } = EXAMPLE_EVENTS[2]!;
    const events = EXAMPLE_EVENTS.slice(1, 3);
    const [second, third] = events.map((event) => JSON.stringify(renderPartnerEvent(event)));
    assert.equal(
      renderFeed({ events, next, hasMore: true }),
      `{"events":[${second},${third}],"next":"evt_AAAAAAAAAAOa7LkPz5tQ3vRnD2U","has_more":true}`,
    );
    assert.equal(
      renderFeed({ events: [], next, hasMore: false }),
      '{"events":[],"next":"evt_AAAAAAAAAAOa7LkPz5tQ3vRnD2U","has_more":false}',
    );
  });

  it('D24, D25: an application has its names and values in the language of the answer', () => {
    assert.equal(
      renderApplication(APPLICATION, 'en'),
      '{"id":346,"id_number":"1020304050","score":47,"decision":"in_review","status":"pending_signature","reason_code":"income_verified","reason_codes":["capacity_below_1_5","debt_1_year"],"signed_at":"2026-11-22T16:07:30.000+00:00","withdrawn_at":null,"created_at":"2026-11-22T09:12:00.000+00:00","updated_at":"2026-11-22T15:45:10.250+00:00"}',
    );
    assert.equal(
      renderApplication({ ...APPLICATION, idNumber: null, status: 'disbursed', reasonCode: null }, 'es'),
      '{"id":346,"cedula":null,"score":47,"decision":"en_revision","estado":"disbursed","reason_code":null,"reason_codes":["capacity_below_1_5","debt_1_year"],"signed_at":"2026-11-22T16:07:30.000+00:00","withdrawn_at":null,"created_at":"2026-11-22T09:12:00.000+00:00","updated_at":"2026-11-22T15:45:10.250+00:00"}',
    );
  });
});

it('D41: the query of the feed has a limit of 1 to 500, or 100, and at most one cursor', () => {
  const types = UNASKED_EVENT_TYPES;
  assert.deepEqual(readFeedQuery({}), { after: null, limit: 100, types });
  assert.deepEqual(readFeedQuery({ after: '', limit: '7', other: 'x' }), { after: '', limit: 7, types });
  for (const [limit, read] of [
    ['1', 1],
    ['500', 500],
    ['001', 1],
  ] as const)
    assert.equal(readFeedQuery({ limit }).limit, read);
  for (const limit of ['0', '501', '-1', '1.0', '1e2', '', 'x', ' 1', '１', '0500', ['1', '1']]) {
    assert.throws(() => readFeedQuery({ limit }), { problem: 'bad_limit' }, `${limit}`);
  }
  assert.throws(() => readFeedQuery({ after: ['a', 'b'] }), { problem: 'bad_cursor' });
});

it('D47: the query of the feed names types, each once; without names the events of conversations are left out', () => {
  assert.deepEqual(readFeedQuery({ types: 'contract.signed' }).types, ['contract.signed']);
  assert.deepEqual(readFeedQuery({ types: PARTNER_EVENT_TYPES.join(',') }).types, PARTNER_EVENT_TYPES);
  assert.deepEqual(UNASKED_EVENT_TYPES, PARTNER_EVENT_TYPES.slice(0, 3));
  for (const types of [
    '',
    'nothing',
    'contract.signed,',
    'contract.signed,contract.signed',
    ['contract.signed', 'x'],
  ]) {
    assert.throws(() => readFeedQuery({ types }), { problem: 'bad_types' }, `${types}`);
  }
});
