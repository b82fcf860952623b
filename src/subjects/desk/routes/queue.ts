/**
 * Routes of the review queue, of claims and of selections (docs/operators.md, "The review queue"). `uses/queue.ts`
 * and `uses/show-queue.ts` do the work.
 */
import { COUNTRY_CURRENCY } from '../../../ground/base/country-data.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { tagged } from '../../../wire/operator/tagged.ts';
import { KeptInstallments } from '../../signing/uses/installments.ts';
import { CONFLICTS } from '../rules/conflict.ts';
import type { QueueOrder } from '../rules/queue.ts';
import type { QueueDesk, ShowingDesk } from '../uses/desk-context.ts';
import { claim, claimNext, dropClaim, leavePage, select } from '../uses/queue.ts';
import { Refusal } from '../uses/refusal.ts';
import { readPartnerNames, showQueue } from '../uses/show-queue.ts';
import { answered, applicationIdOf, claimerOf } from './answered.ts';
import { cursorOf, placeOf, wrongCursor } from './cursor.ts';
import {
  Claimed,
  ClaimNext,
  MOST_ROWS,
  Nothing,
  Queue,
  QueueFilter,
  QueuePartners,
  QueueQuery,
  Selection,
} from './queue-forms.ts';

/**
 * Whether a value can be a key of the order. Scores and amounts may have a fraction. Other keys are whole, and the
 * store's times have a limit.
 */
const isKeyOf = (order: QueueOrder) => (key: unknown) => {
  if (key === null) return order === 'due';
  return order === 'score' || order === 'amount' ? Number.isFinite(key) : Number.isSafeInteger(key);
};

/** The routes. Those that claim tell who holds the application if it is another operator. */
export function queueRoutes(desk: ShowingDesk): Route[] {
  const { database } = desk;
  // Each page of an operator reads the same rows every few seconds.
  const showing = { ...desk, kept: new KeptInstallments() };
  return [
    route({
      method: 'GET',
      path: '/review-queue',
      access: 'viewer',
      hasTag: true,
      summary:
        'The applications in review, a page at a time; without a `state` those are left out that a decision is proposed on. The ETag is of the content.',
      query: QueueQuery,
      reply: Queue,
      run: ({ query, session, knownTags }) =>
        answered(async () => {
          const { order = 'due', cursor, limit = MOST_ROWS, ...filter } = query;
          const after = cursor === undefined ? null : placeOf(order, cursor, isKeyOf(order));
          if (cursor !== undefined && after === null) throw wrongCursor();
          const page = await showQueue(showing, { filter, order, after, limit }, session.operatorId);
          const next = page.next && cursorOf(order, page.next);
          return tagged(inForm(Queue, { ...page, next }), knownTags);
        }),
    }),
    route({
      method: 'GET',
      path: '/review-queue/partners',
      access: 'viewer',
      summary: 'The partners by which the queue can be narrowed: the first 1,000 by name.',
      reply: QueuePartners,
      run: async () => {
        const partners = await readPartnerNames(database);
        const shown = partners.map((one) => ({ ...one, currency: COUNTRY_CURRENCY[one.country] }));
        return { body: inForm(QueuePartners, { partners: shown }) };
      },
    }),
    route({
      method: 'POST',
      path: '/review-queue/claim-next',
      access: 'reviewer',
      summary: 'Claims the next application that nobody holds, in the order and within the filters.',
      headers: ['Idempotency-Key', 'Operator-Page'],
      body: ClaimNext,
      reply: Claimed,
      run: ({ body: { order = 'due', ...filter }, idempotencyKey: key, ...call }) =>
        answered(async () => {
          const next = await claimNext(database, { filter, order, key }, claimerOf(call));
          return { body: inForm(Claimed, next ?? { id: null, claim: null }) };
        }),
    }),
    route({
      method: 'POST',
      path: '/review-queue/selections',
      access: 'reviewer',
      conflicts: CONFLICTS,
      summary: 'Keeps all that match the filters, each with its last event, for one decision on them.',
      body: QueueFilter,
      reply: Selection,
      run: ({ body, session }) =>
        answered(async () => {
          return { body: inForm(Selection, await select(database, body, session.operatorId)) };
        }),
    }),
    ...claimRoutes(desk),
  ];
}

function claimRoutes(desk: QueueDesk): Route[] {
  return [
    route({
      method: 'POST',
      path: '/applications/{id}/claim',
      access: 'reviewer',
      failures: [404],
      conflicts: CONFLICTS,
      summary:
        'Claims an application, or renews the claim. 409 tells who holds it, until when, or who has proposed a decision on it.',
      headers: ['Operator-Page'],
      body: Nothing,
      reply: Claimed,
      run: ({ params, ...call }) =>
        answered(async () => {
          const id = applicationIdOf(params.id);
          return { body: inForm(Claimed, { id, claim: await claim(desk, id, claimerOf(call)) }) };
        }),
    }),
    route({
      method: 'POST',
      path: '/applications/{id}/release',
      access: 'reviewer',
      failures: [404],
      summary:
        'Gives an application back. Where somebody else holds it, nothing changes; where another page of the operator uses it, that one keeps it.',
      headers: ['Operator-Page'],
      body: Nothing,
      reply: Nothing,
      run: ({ params, ...call }) =>
        answered(async () => {
          await dropClaim(desk.database, applicationIdOf(params.id), claimerOf(call));
          return { body: {} };
        }),
    }),
    route({
      method: 'POST',
      path: '/review-queue/leave',
      access: 'reviewer',
      summary:
        'Closes the page of Operator-Page: what no other page of the operator uses is given back, and what the page asked for before claims nothing any more.',
      headers: ['Operator-Page'],
      body: Nothing,
      reply: Nothing,
      run: ({ session, page }) =>
        answered(async () => {
          if (page === null) throw new Refusal(400, 'Operator-Page is missing');
          await leavePage(desk.database, session.operatorId, page);
          return { body: {} };
        }),
    }),
  ];
}
