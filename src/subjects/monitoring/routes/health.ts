/**
 * The routes of the operator API that say whether all is well, as `ventanilla status --json`, and what was not. They
 * read only.
 */
import { type Static, Type } from 'typebox';
import type { Session } from '../../../ground/postgres/database.ts';
import type { StoreView } from '../../../program/operations/operator-context.ts';
import { form, orNull, Time } from '../../../wire/operator/form.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { endedTroubles } from '../uses/ended-troubles.ts';
import { readStatus } from '../uses/status.ts';
import { statusJson } from '../uses/status-json.ts';

/** What is always there. The numbers follow, as docs/monitoring.md has them, unless the store cannot tell them. */
export const Health = Type.Object({
  ok: Type.Boolean(),
  /** The worst first. `code` names its section in docs/runbook.md; `since` of null: nobody has noted it yet. */
  troubles: Type.Array(form({ code: Type.String(), text: Type.String(), since: orNull(Time) })),
  version: Type.String(),
  /** Where the store is. */
  store: orNull(Type.String()),
  /** When each job of the upkeep succeeded and failed last. */
  upkeep: Type.Optional(
    Type.Array(
      form({
        job: Type.String(),
        succeeded_at: orNull(Type.String()),
        took_ms: orNull(Type.Number()),
        failed_at: orNull(Type.String()),
        failed_why: orNull(Type.String()),
      }),
    ),
  ),
});
export type HealthReply = Static<typeof Health>;

/** Troubles of a page. */
const MOST = 100;

export const HealthHistoryQuery = form({
  cursor: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,14}$' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST })),
});

/** The troubles that ended within 30 days, those first that began last. */
export const HealthHistory = form({
  troubles: Type.Array(
    form({
      code: Type.String(),
      /** What `status` said when it began. */
      text: Type.String(),
      began_at: Time,
      ended_at: Time,
      /** How often it began: where it came again within ten minutes, it is one. */
      times: Type.Integer({ minimum: 1 }),
    }),
  ),
  /** The cursor of the next page; null: this is the last one. */
  next: orNull(Type.String()),
});
export type HealthHistoryReply = Static<typeof HealthHistory>;

/** `view` is the store of the service, `database` its sessions. */
export function healthRoutes(view: StoreView, database: Session): Route[] {
  return [
    route({
      method: 'GET',
      path: '/health',
      access: 'admin',
      summary: 'Says whether all is well, and what is wrong: the members of `ventanilla status --json`.',
      reply: Health,
      run: async () => ({ body: statusJson(await readStatus(view)) as HealthReply }),
    }),
    route({
      method: 'GET',
      path: '/health/history',
      access: 'admin',
      summary: 'The troubles that ended within the last 30 days, with their beginning and end.',
      query: HealthHistoryQuery,
      reply: HealthHistory,
      run: async ({ query: { cursor, limit = MOST } }) => {
        const { troubles, next } = await endedTroubles(
          database,
          cursor === undefined ? null : Number(cursor),
          limit,
        );
        return { body: inForm(HealthHistory, { troubles, next: next === null ? null : `${next}` }) };
      },
    }),
  ];
}
