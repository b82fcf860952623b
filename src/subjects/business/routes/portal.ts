/** The route of the portal about what became of a partner's own applications (docs/business.md, docs/portal.md). */
import { Type } from 'typebox';
import { isCalendarDay } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { form } from '../../../wire/operator/form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { MOST_ROWS, reportPage } from '../uses/report.ts';

const Count = Type.Integer({ minimum: 0 });

const DAY_COUNTS = {
  registered: Count,
  refused: Count,
  duplicate: Count,
  over_quota: Count,
  invalid: Count,
  approved: Count,
  in_review: Count,
  rejected: Count,
  started: Count,
  offered: Count,
  signed: Count,
  withdrawn: Count,
  disbursed: Count,
};
const NAMES = Object.keys(DAY_COUNTS) as (keyof typeof DAY_COUNTS)[];

export const PortalDays = form({
  /** By day of UTC and currency, the oldest first. */
  days: Type.Array(form({ day: Type.String({ format: 'date' }), currency: Type.String(), ...DAY_COUNTS })),
});

export function portalBusinessRoutes({ database }: { readonly database: Database }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/days',
      access: 'member',
      summary:
        'What became of the applications of the partner, by day of UTC; without `since` of the last 30 days.',
      query: form({ since: Type.Optional(Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' })) }),
      reply: PortalDays,
      run: async ({ session: { partnerId }, query: { since } }) => {
        if (since !== undefined && !isCalendarDay(since))
          return { status: 400, body: { error: 'query: since must be a day of the calendar' } };
        const asked = { by: 'day', since: since ?? null, partnerId } as const;
        const { rows } = await reportPage(database, asked, null, MOST_ROWS);
        const days = rows.map((row) => ({
          ...{ day: row.period, currency: row.currency },
          ...(Object.fromEntries(NAMES.map((name) => [name, row[name]])) as Record<
            keyof typeof DAY_COUNTS,
            number
          >),
        }));
        return { body: { days } };
      },
    }),
  ];
}
