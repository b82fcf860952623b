/** The route of the portal about the deliveries of a partner's own events (D41, D54, docs/portal.md). */
import { Type } from 'typebox';
import type { Database } from '../../../../ground/postgres/database.ts';
import type { Vault } from '../../../../seal/vault.ts';
import { form, orNull, Time } from '../../../../wire/operator/form.ts';
import { inForm } from '../../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../../wire/operator/route.ts';
import { deliveriesOf } from '../uses/deliveries.ts';

export const PortalDeliveries = form({
  /** null: the partner has no endpoint, so nothing is pushed. */
  endpoint: orNull(
    form({
      /** The host of its URL, because a URL may hold a secret; null: it cannot be read. */
      host: orNull(Type.String()),
      set_at: Time,
      conversation_events: Type.Boolean(),
      disabled_at: orNull(Time),
      disabled_reason: orNull(Type.String()),
      /** Since when so many pushes have failed that only probes go out. */
      broken_at: orNull(Time),
      last_failure: orNull(Type.String()),
      last_failure_at: orNull(Time),
      last_success_at: orNull(Time),
      /** Events that wait for their push. */
      waiting: Type.Integer({ minimum: 0 }),
    }),
  ),
  /** The first events that wait, the oldest first. */
  pushes: Type.Array(
    form({
      event_id: Type.String(),
      application_id: Type.Integer(),
      /** How many attempts have failed. */
      attempts: Type.Integer({ minimum: 0 }),
      /** The time of the next attempt. */
      due_at: Time,
    }),
  ),
});

export function portalDeliveryRoutes(store: { readonly database: Database; readonly vault: Vault }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/deliveries',
      access: 'member',
      summary: 'How the pushes of the events to the endpoint of the partner stand.',
      reply: PortalDeliveries,
      run: async ({ session }) => ({
        body: inForm(PortalDeliveries, await deliveriesOf(store, session.partnerId)),
      }),
    }),
  ];
}
