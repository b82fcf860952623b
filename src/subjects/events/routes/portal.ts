/** The route of the portal about a partner's own events (D41, D54, docs/portal.md). No personal data. */
import { Type } from 'typebox';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { form, orNull, Time } from '../../../wire/operator/form.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { partnerEventPage } from '../uses/list-partner-events.ts';

const MOST_EVENTS = 200;
const USUAL_EVENTS = 50;

export const PortalEvents = form({
  /** The newest first. */
  events: Type.Array(
    form({
      /** The cursor of the feed. */
      id: Type.String(),
      at: Time,
      type: Type.String(),
      application_id: Type.Integer(),
      from: orNull(Type.String()),
      to: orNull(Type.String()),
      reason_code: orNull(Type.String()),
      message: orNull(Type.String()),
    }),
  ),
  /** The cursor of the next page; null: this is the last one. */
  next: orNull(Type.String()),
});

export function portalEventRoutes(store: { readonly database: Database; readonly vault: Vault }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/events',
      access: 'member',
      summary: 'The events of the partner that are kept, newest first.',
      query: form({
        cursor: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,14}$' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_EVENTS })),
      }),
      reply: PortalEvents,
      run: async ({ session: { partnerId }, query: { cursor, limit = USUAL_EVENTS } }) => {
        const before = cursor === undefined ? null : Number(cursor);
        const { events, next } = await partnerEventPage(store, partnerId, before, limit);
        return { body: inForm(PortalEvents, { events, next: next === null ? null : `${next}` }) };
      },
    }),
  ];
}
