/** The routes of the operator API about partners (docs/operators.md, "Partners"). `uses/partners.ts` does the work. */
import { toPartnerId } from '../../../domain/partner/credential.ts';
import { acting } from '../../../program/operations/acting.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { listPartnerPage, newestRefusals, showPartner } from '../uses/partner-list.ts';
import {
  addPartner,
  changePartnerName,
  closePartner,
  reopenPartner,
  requirePartner,
  type WhenClosing,
} from '../uses/partners.ts';
import { listRequests } from '../uses/requests.ts';
import { actingBy, answered, orAsItIs, type PartnerDesk, partnerIdOf } from './answered.ts';
import {
  ClosedPartner,
  MOST_PARTNERS,
  MOST_REFUSALS,
  NewName,
  NewPartner,
  Nothing,
  PageQuery,
  Partner,
  Partners,
  Refusals,
  ShownPartner,
} from './forms.ts';
import { keyRoutes } from './keys.ts';
import { MOST_REQUESTS, Requests, RequestsQuery, requestsReply } from './request-forms.ts';

/** `whenClosing`: what other subjects do for a partner that closes. */
export function partnerRoutes(desk: PartnerDesk, whenClosing: readonly WhenClosing[]): Route[] {
  return [
    ...readingRoutes(desk),
    ...changingRoutes(desk),
    ...closingRoutes(desk, whenClosing),
    ...keyRoutes(desk),
  ];
}

function readingRoutes(desk: PartnerDesk): Route[] {
  return [
    route({
      method: 'GET',
      path: '/partners',
      access: 'admin',
      summary: 'The partners, newest first, with their live keys, the use of the quota and what was refused.',
      query: PageQuery,
      reply: Partners,
      run: async ({ query: { cursor, limit = MOST_PARTNERS } }) => {
        const before = cursor === undefined ? null : toPartnerId(Number(cursor));
        const { partners, next } = await listPartnerPage(desk, before, limit);
        return { body: inForm(Partners, { partners, next: next && `${next}` }) };
      },
    }),
    route({
      method: 'GET',
      path: '/partners/{id}',
      access: 'admin',
      failures: [404],
      summary: 'A partner with its keys and its usage.',
      reply: ShownPartner,
      run: ({ params }) =>
        answered(async () => ({ body: inForm(ShownPartner, await showPartner(desk, partnerIdOf(params))) })),
    }),
    route({
      method: 'GET',
      path: '/partners/{id}/refusals',
      access: 'admin',
      failures: [404],
      summary: `The newest ${MOST_REFUSALS} hours in which something of a key was refused.`,
      reply: Refusals,
      run: (call) =>
        answered(async () => {
          const { refusals, more } = await newestRefusals(
            actingBy(desk, call),
            partnerIdOf(call.params),
            MOST_REFUSALS,
          );
          const named = refusals.map((one) => ({ ...one, overQuota: one.over_quota }));
          return { body: inForm(Refusals, { refusals: named, more }) };
        }),
    }),
    route({
      method: 'GET',
      path: '/partners/{id}/requests',
      access: 'admin',
      failures: [404],
      summary:
        'What the partner asked in the last seven days, or one request by its X-Request-Id, without what it sent. The newest first.',
      query: RequestsQuery,
      reply: Requests,
      run: ({ params, query: { request_id: requestId, cursor = null, limit = MOST_REQUESTS } }) =>
        answered(async () => ({
          body: requestsReply(
            await listRequests(desk, partnerIdOf(params), { requestId, before: cursor, limit }),
          ),
        })),
    }),
  ];
}

function changingRoutes(desk: PartnerDesk): Route[] {
  return [
    route({
      method: 'POST',
      path: '/partners',
      access: 'admin',
      conflicts: ['name_taken'],
      summary: 'Adds a partner. Its name is what applicants read.',
      body: NewPartner,
      reply: Partner,
      run: (call) =>
        answered(async () => {
          const partner = await acting(
            actingBy(desk, call),
            (part) => addPartner(part, call.body),
            ({ id }) => ({ act: 'partner add', target: `partner ${id}` }),
          );
          return { body: inForm(Partner, partner) };
        }),
    }),
    route({
      method: 'POST',
      path: '/partners/{id}/rename',
      access: 'admin',
      failures: [404],
      conflicts: ['name_taken'],
      summary: 'Gives a partner another name, from the next message on.',
      body: NewName,
      reply: Partner,
      run: (call) =>
        answered(async () => {
          const id = partnerIdOf(call.params);
          const partner = await acting(
            actingBy(desk, call),
            (part) => changePartnerName(part, id, call.body.name),
            () => ({ act: 'partner rename', target: `partner ${id}` }),
          );
          return { body: inForm(Partner, partner) };
        }),
    }),
  ];
}

function closingRoutes(desk: PartnerDesk, whenClosing: readonly WhenClosing[]): Route[] {
  return [
    route({
      method: 'POST',
      path: '/partners/{id}/close',
      access: 'admin',
      needsFresh: true,
      failures: [404],
      summary:
        'Closes a partner: its keys are revoked and its pushes end. Of a closed one it changes nothing. It needs a sign-in of the last five minutes.',
      body: Nothing,
      reply: ClosedPartner,
      run: (call) =>
        answered(async () => {
          const id = partnerIdOf(call.params);
          const closing = acting(
            actingBy(desk, call),
            (part) => closePartner(part, id, whenClosing),
            () => ({ act: 'partner close', target: `partner ${id}` }),
          );
          const before = async () => ({ partner: await requirePartner(desk, id), revoked: 0 });
          const { partner, revoked } = await orAsItIs(closing, 'closed', before);
          return { body: inForm(ClosedPartner, { ...partner, keysRevoked: revoked }) };
        }),
    }),
    route({
      method: 'POST',
      path: '/partners/{id}/reopen',
      access: 'admin',
      failures: [404],
      summary:
        'Lets a closed partner have keys again; the old ones stay revoked. Of an open one it changes nothing.',
      body: Nothing,
      reply: Partner,
      run: (call) =>
        answered(async () => {
          const id = partnerIdOf(call.params);
          const reopening = acting(
            actingBy(desk, call),
            (part) => reopenPartner(part, id),
            () => ({ act: 'partner reopen', target: `partner ${id}` }),
          );
          const partner = await orAsItIs(reopening, 'not_closed', () => requirePartner(desk, id));
          return { body: inForm(Partner, partner) };
        }),
    }),
  ];
}
