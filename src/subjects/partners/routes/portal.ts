/**
 * The routes of the portal about a partner's own quota, keys and sandbox (D54, docs/portal.md). Each names the partner
 * of the session, and no other one. An answer shows a key once.
 */
import { Type } from 'typebox';
import { SANDBOX_SCENARIOS } from '../../../domain/application/sandbox.ts';
import { ENVIRONMENTS, type KeyId } from '../../../domain/partner/credential.ts';
import { acting } from '../../../program/operations/acting.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { form, oneOf, orNull, Time } from '../../../wire/operator/form.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Call, type Route, route } from '../../../wire/operator/route.ts';
import { issueKeyLike, readOverlap, requireKey, revokeKey, rotateKey } from '../uses/keys.ts';
import { showPartner } from '../uses/partner-list.ts';
import { listRequests } from '../uses/requests.ts';
import { actingBy, answered, keyIdOf, orAsItIs, type PartnerDesk } from './answered.ts';
import { IssuedKey, Key, Nothing, RotatedKey, Rotation } from './forms.ts';
import { MOST_REQUESTS, Requests, RequestsQuery, requestsReply } from './request-forms.ts';

const Count = Type.Integer({ minimum: 0 });

export const PortalQuota = form({
  window: Type.Literal('rolling_24h'),
  /** The registrations of the last 24 hours, over all keys. */
  used_24h: Count,
  /** The largest cap of a live key for production; null: one has none, or there is no such key. */
  daily_cap: orNull(Count),
  remaining: orNull(Count),
  /** Applications that were refused in the hours that began in the last 24 hours. */
  refused_24h: Count,
  fetched_at: Time,
  /** Seconds until more of the quota is free; null: nothing is used. */
  reset_seconds: orNull(Count),
});

export const PortalKeys = form({
  /** The newest first, dead ones too. */
  keys: Type.Array(Key),
});

export const PortalSandbox = form({
  /** Phones that force an outcome on POST /DEV. */
  scenarios: Type.Array(
    form({
      phone: Type.String(),
      outcome: oneOf(['approved', 'in_review', 'rejected', 'duplicate', 'over_quota', 'unavailable']),
      score: orNull(Count),
    }),
  ),
});

const LikeKey = form({
  /** The live key of the partner whose cap, language and brand the new one gets. */
  like: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  /** The only environment of the new key, which the other one must have too; absent: as the other one. */
  environment: Type.Optional(oneOf(ENVIRONMENTS)),
});

const DEFAULT_OVERLAP = '24h';

/** The routes. What makes or ends a key needs an owner, and a sign-in of the last five minutes. */
export function portalPartnerRoutes(desk: PartnerDesk): Route[] {
  return [...readingRoutes(desk), ...makingRoutes(desk), revokingRoute(desk)];
}

function readingRoutes(desk: PartnerDesk): Route[] {
  return [
    route({
      method: 'GET',
      path: '/quota',
      access: 'member',
      summary: 'The quota of the partner: what is used and left.',
      reply: PortalQuota,
      run: async ({ session }) => {
        const partner = await showPartner(desk, session.partnerId);
        const { dailyCap, used24h } = partner;
        const remaining = dailyCap === null ? null : Math.max(dailyCap - used24h, 0);
        return { body: inForm(PortalQuota, { ...partner, window: 'rolling_24h', remaining }) };
      },
    }),
    route({
      method: 'GET',
      path: '/keys',
      access: 'member',
      summary: 'The keys of the partner, without their texts.',
      reply: PortalKeys,
      run: async ({ session }) => {
        const { keys } = await showPartner(desk, session.partnerId);
        return { body: inForm(PortalKeys, { keys }) };
      },
    }),
    route({
      method: 'GET',
      path: '/requests',
      access: 'member',
      failures: [404],
      summary:
        'What the partner asked in the last seven days, or one request by its X-Request-Id, without what it sent. The newest first.',
      query: RequestsQuery,
      reply: Requests,
      run: ({ session, query: { request_id: requestId, cursor = null, limit = MOST_REQUESTS } }) =>
        answered(async () => ({
          body: requestsReply(
            await listRequests(desk, session.partnerId, { requestId, before: cursor, limit }),
          ),
        })),
    }),
    route({
      method: 'GET',
      path: '/sandbox',
      access: 'member',
      summary: 'Which phones force which outcomes in the sandbox.',
      reply: PortalSandbox,
      run: async () => ({
        body: {
          scenarios: SANDBOX_SCENARIOS.map(({ phone, outcome }) =>
            outcome.kind === 'registered'
              ? { phone, outcome: outcome.decision, score: outcome.score }
              : { phone, outcome: outcome.kind, score: null },
          ),
        },
      }),
    }),
  ];
}

function makingRoutes(desk: PartnerDesk): Route[] {
  return [
    route({
      method: 'POST',
      path: '/keys',
      access: 'owner',
      needsFresh: true,
      failures: [404],
      conflicts: ['closed', 'key_ended', 'too_many'],
      summary: 'Issues a key that allows no more than a live one of the partner; this answer alone shows it.',
      body: LikeKey,
      reply: IssuedKey,
      run: (call) =>
        answered(async () => {
          const { like, environment } = call.body;
          const { key, apiKey } = await acting(
            actingBy(desk, call),
            (part) => issueKeyLike(part, call.session.partnerId, { like: like as KeyId, environment }),
            ({ key }) => ({ act: 'key issue', target: `key ${key.id}` }),
          );
          return { body: inForm(IssuedKey, { ...key, apiKey }) };
        }),
    }),
    route({
      method: 'POST',
      path: '/keys/{key}/rotate',
      access: 'owner',
      needsFresh: true,
      failures: [404],
      conflicts: ['key_ended'],
      summary:
        'Issues the successor of a key; this answer alone shows it. The old key works for the overlap: 30m, 24h, 7d, at most 30d, or 0; 24h if it is absent.',
      body: Rotation,
      reply: RotatedKey,
      run: (call) =>
        answered(async () => {
          const overlap = readOverlap(call.body.overlap ?? DEFAULT_OVERLAP);
          const { key, apiKey, replaced } = await onOwnKey(desk, call, 'key rotate', (part, id) =>
            rotateKey(part, id, overlap),
          );
          return { body: inForm(RotatedKey, { ...key, apiKey, replaces: replaced }) };
        }),
    }),
  ];
}

function revokingRoute(desk: PartnerDesk): Route {
  return route({
    method: 'POST',
    path: '/keys/{key}/revoke',
    access: 'owner',
    needsFresh: true,
    failures: [404],
    summary: 'Ends a key: its next request is refused. Of a revoked one it changes nothing.',
    body: Nothing,
    reply: Key,
    run: (call) =>
      answered(async () => {
        const revoking = onOwnKey(desk, call, 'key revoke', (part, id) => revokeKey(part, id));
        const key = await orAsItIs(revoking, 'key_revoked', () =>
          requireKey(desk, keyIdOf(call.params), call.session.partnerId),
        );
        return { body: inForm(Key, key) };
      }),
  });
}

/** Does an act on a key of the partner of the session, and records it. Throws `OperatorError` if it is no such key. */
function onOwnKey<T>(
  desk: PartnerDesk,
  call: Pick<Call<never, never, 'owner'>, 'session' | 'params'>,
  act: string,
  work: (context: OperatorContext, id: KeyId) => Promise<T>,
): Promise<T> {
  const id = keyIdOf(call.params);
  return acting(
    actingBy(desk, call),
    async (part) => {
      await requireKey(part, id, call.session.partnerId);
      return work(part, id);
    },
    () => ({ act, target: `key ${id}` }),
  );
}
