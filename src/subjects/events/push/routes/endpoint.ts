/**
 * The routes of the operator API about the endpoint of a partner (docs/operators.md, "The endpoint"). `uses` does the
 * work. An answer shows a signing secret once, so no route takes an Idempotency-Key.
 */
import { type Static, Type } from 'typebox';
import { acting, noting } from '../../../../program/operations/acting.ts';
import { OperatorError } from '../../../../program/operations/operator-context.ts';
import { form, oneOf, orNull, Time } from '../../../../wire/operator/form.ts';
import { inForm } from '../../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../../wire/operator/route.ts';
import { actingBy, answered, type PartnerDesk, partnerIdOf } from '../../../partners/routes/answered.ts';
import { requirePartner } from '../../../partners/uses/partners.ts';
import type { EndpointHosts } from '../rules/endpoint-hosts.ts';
import { DISABLED_REASONS, PUSH_RESULTS } from '../rules/failures.ts';
import { attemptsOf } from '../uses/deliveries.ts';
import {
  disablePartnerEndpoint,
  type PartnerEndpoint,
  resendPartnerEvents,
  rotateEndpointSecret,
  setPartnerEndpoint,
  showPartnerEndpoint,
  testPartnerEndpoint,
} from '../uses/endpoints.ts';

const Count = Type.Integer({ minimum: 0 });
const SHOWN = {
  /** null: its settings cannot be read. */
  url: orNull(Type.String()),
  /** `broken`: single pushes go out as probes. */
  status: oneOf(['enabled', 'broken', 'disabled'] as const),
  set_at: Time,
  /** The events of conversations are pushed too. */
  conversation_events: Type.Boolean(),
  disabled_at: orNull(Time),
  disabled_reason: orNull(oneOf(DISABLED_REASONS)),
  broken_at: orNull(Time),
  probe_at: orNull(Time),
  /** Events that wait, and when the oldest of them happened. */
  waiting: Count,
  oldest_at: orNull(Time),
  last_success_at: orNull(Time),
  /** A code, never a text of the endpoint. */
  last_failure: orNull(Type.String()),
  last_failure_at: orNull(Time),
  /** Seconds for which pushes are signed with the secret of before too. */
  old_secret_signs_for_s: Count,
};
export const ShownEndpoint = form(SHOWN);
export type EndpointReply = Static<typeof ShownEndpoint>;
/** With the signing secret of a new endpoint: this answer alone has it; null: the endpoint keeps its secret. */
const SetEndpoint = form({ ...SHOWN, secret: orNull(Type.String()) });
const Secret = form({ secret: Type.String() });
export const EndpointTest = form({
  event_id: Type.String(),
  delivered: Type.Boolean(),
  /** Of the answer; null: none came, or it was no success. */
  status: orNull(Type.Integer()),
  /** A code, such as `status_500` or `timeout`. */
  failure: orNull(Type.String()),
  took_ms: Count,
});
export type EndpointTestReply = Static<typeof EndpointTest>;
export const Deliveries = form({
  /** null: the partner has none. */
  endpoint: orNull(ShownEndpoint),
  /** The first events that wait, the oldest first. */
  pushes: Type.Array(
    form({
      event_id: Type.String(),
      application_id: Type.Integer(),
      attempts: Count,
      due_at: Time,
      /** An earlier event of its application waits too, and goes first. */
      is_behind: Type.Boolean(),
      /** Why the last attempt failed: a code; null: none failed, or that is not kept any more. */
      last_failure: orNull(Type.String()),
    }),
  ),
  /** The newest attempts of seven days, the newest first. */
  attempts: Type.Array(
    form({
      event_id: Type.String(),
      /** null: the event was deleted for its age. */
      application_id: orNull(Type.Integer()),
      type: orNull(Type.String()),
      at: Time,
      /** From 1. */
      attempt: Count,
      result: oneOf(PUSH_RESULTS),
      /** A code, never a text of the endpoint; null without a failure. */
      failure: orNull(Type.String()),
    }),
  ),
});
export type DeliveriesReply = Static<typeof Deliveries>;

const DeliveriesQuery = form({
  /** The id of one event. */
  event_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
});
const NewEndpoint = form({
  url: Type.String({ minLength: 1, maxLength: 4_096 }),
  conversation_events: Type.Optional(Type.Boolean()),
});
/** From an event on, or from a time on. */
const Resend = form({
  after: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  since: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,6})?)?(Z|[+-]\\d\\d:\\d\\d)$',
    }),
  ),
});
const Nothing = form({});
const FRESH = 'It needs a sign-in of the last five minutes.';
const ADMIN = { access: 'admin', failures: [404] } as const;
const CHANGE = { ...ADMIN, method: 'POST', needsFresh: true } as const;

/** `hosts`: those that may be private or without TLS. */
export function endpointRoutes(desk: PartnerDesk, hosts: EndpointHosts): Route[] {
  return [...readingRoutes(desk), ...settingRoutes(desk, hosts), ...sendingRoutes(desk, hosts)];
}

function readingRoutes(desk: PartnerDesk): Route[] {
  return [
    route({
      ...{ ...ADMIN, method: 'GET', path: '/partners/{id}/endpoint', conflicts: ['no_endpoint'] },
      summary: 'Where the events of a partner are pushed to, and how that goes.',
      reply: ShownEndpoint,
      run: (call) =>
        answered(async () => ({
          body: inForm(
            ShownEndpoint,
            shown(await showPartnerEndpoint(actingBy(desk, call), partnerIdOf(call.params))),
          ),
        })),
    }),
    route({
      ...{ ...ADMIN, method: 'GET', path: '/partners/{id}/deliveries' },
      summary:
        'The endpoint of a partner, if it has one, the first events that wait for their push, and the newest attempts of seven days; or those of one event.',
      query: DeliveriesQuery,
      reply: Deliveries,
      run: ({ params, query: { event_id: eventId = null } }) =>
        answered(async () => {
          const { id } = await requirePartner(desk, partnerIdOf(params));
          const { endpoint, ...deliveries } = await attemptsOf(desk, id, eventId);
          return { body: inForm(Deliveries, { endpoint: endpoint && shown(endpoint), ...deliveries }) };
        }),
    }),
  ];
}

function settingRoutes(desk: PartnerDesk, hosts: EndpointHosts): Route[] {
  return [
    route({
      ...{ ...CHANGE, path: '/partners/{id}/endpoint', conflicts: ['closed'] },
      summary: `Pushes new events to a URL. The signing secret of a new endpoint is in this answer alone. ${FRESH}`,
      body: NewEndpoint,
      reply: SetEndpoint,
      run: (call) =>
        answered(async () => {
          const id = partnerIdOf(call.params);
          const { url, conversation_events: conversationEvents = null } = call.body;
          const { endpoint, secret } = await acting(
            actingBy(desk, call),
            (part) => setPartnerEndpoint(part, id, { url, hosts, conversationEvents }),
            () => ({ act: 'partner endpoint set', target: `partner ${id}` }),
          );
          return { body: inForm(SetEndpoint, { ...shown(endpoint), secret }) };
        }),
    }),
    route({
      ...{
        ...CHANGE,
        path: '/partners/{id}/endpoint/rotate',
        conflicts: ['no_endpoint', 'endpoint_unreadable'],
      },
      summary: `Makes another signing secret, in this answer alone. For a day pushes are signed with both. ${FRESH}`,
      body: Nothing,
      reply: Secret,
      run: (call) =>
        answered(async () => {
          const id = partnerIdOf(call.params);
          const { secret } = await acting(
            actingBy(desk, call),
            (part) => rotateEndpointSecret(part, id),
            () => ({ act: 'partner endpoint rotate', target: `partner ${id}` }),
          );
          return { body: { secret } };
        }),
    }),
    route({
      ...{ ...CHANGE, path: '/partners/{id}/endpoint/disable', conflicts: ['no_endpoint'] },
      summary: `Pushes nothing any more and drops what waits. Events stay in the feed. ${FRESH}`,
      body: Nothing,
      reply: ShownEndpoint,
      run: (call) =>
        answered(async () => {
          const id = partnerIdOf(call.params);
          const endpoint = await acting(
            actingBy(desk, call),
            (part) => disablePartnerEndpoint(part, id),
            () => ({ act: 'partner endpoint disable', target: `partner ${id}` }),
          );
          return { body: inForm(ShownEndpoint, shown(endpoint)) };
        }),
    }),
  ];
}

function sendingRoutes(desk: PartnerDesk, hosts: EndpointHosts): Route[] {
  return [
    route({
      ...{ ...ADMIN, method: 'POST', path: '/partners/{id}/endpoint/test' },
      conflicts: ['no_endpoint', 'endpoint_unreadable'],
      summary:
        'Sends a signed test event now, once, and tells what became of it. The act is recorded before.',
      body: Nothing,
      reply: EndpointTest,
      run: (call) =>
        answered(async () => {
          const id = partnerIdOf(call.params);
          const context = actingBy(desk, call);
          await noting(context, { act: 'partner endpoint test', target: `partner ${id}` });
          const { eventId, result, tookMs } = await testPartnerEndpoint(context, id, hosts);
          const delivered = result.kind === 'delivered';
          return {
            body: inForm(EndpointTest, {
              ...{ eventId, delivered, tookMs: Math.round(tookMs) },
              status: delivered ? result.status : null,
              failure: delivered ? null : result.failure,
            }),
          };
        }),
    }),
    route({
      ...{ ...ADMIN, method: 'POST', path: '/partners/{id}/endpoint/resend' },
      conflicts: ['no_endpoint', 'endpoint_disabled'],
      summary:
        'Pushes the kept events again, those after an event or those since a time. The act is recorded before.',
      body: Resend,
      reply: form({ queued: Count }),
      run: (call) =>
        answered(async () => {
          const id = partnerIdOf(call.params);
          const start = startOf(call.body);
          const context = actingBy(desk, call);
          await noting(context, { act: 'event resend', target: `partner ${id}` });
          return { body: { queued: await resendPartnerEvents(context, id, start) } };
        }),
    }),
  ];
}

function startOf({ after, since }: Static<typeof Resend>) {
  if (after !== undefined && since === undefined) return { after };
  if (since !== undefined && after === undefined && Number.isFinite(Date.parse(since)))
    return { since: new Date(since) };
  throw new OperatorError('say where to begin: either after or since, which is a time');
}

/** The endpoint as the answer has it: never a secret. */
function shown(endpoint: Omit<PartnerEndpoint, 'partner'>) {
  const { settings, disabledAt, brokenAt, overlapMs } = endpoint;
  const working = brokenAt === null ? ('enabled' as const) : ('broken' as const);
  return {
    ...endpoint,
    url: typeof settings === 'string' ? null : (settings?.url ?? null),
    status: disabledAt === null ? working : ('disabled' as const),
    oldSecretSignsForS: Math.ceil(overlapMs / 1000),
  };
}
