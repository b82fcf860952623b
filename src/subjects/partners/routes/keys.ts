/**
 * The routes of the operator API about the keys of a partner (docs/operators.md, "Partners"). `uses/keys.ts` does the
 * work. An answer shows a key once: no route takes an Idempotency-Key, so that nothing keeps the key for a repetition.
 */
import type { KeyId, PartnerId } from '../../../domain/partner/credential.ts';
import { acting } from '../../../program/operations/acting.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { issueKey, readOverlap, requireKey, revokeKey, rotateKey, setDailyCap } from '../uses/keys.ts';
import { actingBy, answered, keyIdOf, orAsItIs, type PartnerDesk, partnerIdOf } from './answered.ts';
import { IssuedKey, Key, NewCap, NewKey, Nothing, RotatedKey, Rotation } from './forms.ts';

const DEFAULT_OVERLAP = '24h';

/** The routes. Each needs a sign-in of the last five minutes. */
export function keyRoutes(desk: PartnerDesk): Route[] {
  return [...makingRoutes(desk), ...changingRoutes(desk)];
}

function makingRoutes(desk: PartnerDesk): Route[] {
  return [
    route({
      method: 'POST',
      path: '/partners/{id}/keys',
      access: 'admin',
      needsFresh: true,
      failures: [404],
      conflicts: ['closed'],
      summary: 'Issues a key; this answer alone shows it. It needs a sign-in of the last five minutes.',
      body: NewKey,
      reply: IssuedKey,
      run: (call) =>
        answered(async () => {
          const { environment = null, language = 'auto', daily_cap: dailyCap = null } = call.body;
          const settings = { environment, language, dailyCap, brand: {} };
          const { key, apiKey } = await acting(
            actingBy(desk, call),
            (part) => issueKey(part, partnerIdOf(call.params), settings),
            ({ key }) => ({ act: 'key issue', target: `key ${key.id}` }),
          );
          return { body: inForm(IssuedKey, { ...key, apiKey }) };
        }),
    }),
    route({
      method: 'POST',
      path: '/partners/{id}/keys/{key}/rotate',
      access: 'admin',
      needsFresh: true,
      failures: [404],
      conflicts: ['key_ended'],
      summary:
        'Issues the successor of a key; this answer alone shows it. The old key works for the overlap: 30m, 24h, 7d, at most 30d, or 0; 24h if it is absent. It needs a sign-in of the last five minutes.',
      body: Rotation,
      reply: RotatedKey,
      run: (call) =>
        answered(async () => {
          const overlap = readOverlap(call.body.overlap ?? DEFAULT_OVERLAP);
          const { key, apiKey, replaced } = await onKey(desk, call, 'key rotate', (part, id) =>
            rotateKey(part, id, overlap),
          );
          return { body: inForm(RotatedKey, { ...key, apiKey, replaces: replaced }) };
        }),
    }),
  ];
}

function changingRoutes(desk: PartnerDesk): Route[] {
  return [
    route({
      method: 'POST',
      path: '/partners/{id}/keys/{key}/revoke',
      access: 'admin',
      needsFresh: true,
      failures: [404],
      summary:
        'Ends a key: its next request is refused. Of a revoked one it changes nothing. It needs a sign-in of the last five minutes.',
      body: Nothing,
      reply: Key,
      run: (call) =>
        answered(async () => {
          const revoking = onKey(desk, call, 'key revoke', (part, id) => revokeKey(part, id));
          const key = await orAsItIs(revoking, 'key_revoked', () => requireKey(desk, keyIdOf(call.params)));
          return { body: inForm(Key, key) };
        }),
    }),
    route({
      method: 'POST',
      path: '/partners/{id}/keys/{key}/cap',
      access: 'admin',
      needsFresh: true,
      failures: [404],
      conflicts: ['key_forged'],
      summary:
        'Gives a key another daily cap, or none (null), from the next request on. It needs a sign-in of the last five minutes.',
      body: NewCap,
      reply: Key,
      run: (call) =>
        answered(async () => {
          const key = await onKey(desk, call, 'key set', (part, id) =>
            setDailyCap(part, id, call.body.daily_cap),
          );
          return { body: inForm(Key, key) };
        }),
    }),
  ];
}

/** Does an act on the key that a path names, if it is of the partner of the path, and records it. */
function onKey<T>(
  desk: PartnerDesk,
  call: Parameters<typeof actingBy>[1] & { readonly params: Readonly<Record<string, string>> },
  act: string,
  work: (context: OperatorContext, id: KeyId) => Promise<T>,
): Promise<T> {
  const [partnerId, id]: [PartnerId, KeyId] = [partnerIdOf(call.params), keyIdOf(call.params)];
  return acting(
    actingBy(desk, call),
    async (part) => {
      await requireKey(part, id, partnerId);
      return work(part, id);
    },
    () => ({ act, target: `key ${id}` }),
  );
}
