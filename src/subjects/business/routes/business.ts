/** The route of the operator API about the business in numbers (docs/business.md). It reads the counts alone. */
import { Type } from 'typebox';
import { isCalendarDay } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { form, oneOf, orNull } from '../../../wire/operator/form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { PERIODS, placeOfCursor } from '../rules/report-row.ts';
import { MOST_ROWS, reportPage } from '../uses/report.ts';

const Count = Type.Integer({ minimum: 0 });
/** An exact decimal, such as `6000000.00`. */
const Amount = Type.String();

const Row = form({
  period: Type.String({ format: 'date' }),
  partner_id: Type.Integer(),
  country: Type.String(),
  currency: Type.String(),
  registered: Count,
  refused: Count,
  approved: Count,
  in_review: Count,
  rejected: Count,
  started: Count,
  offered: Count,
  signed: Count,
  withdrawn: Count,
  disbursed: Count,
  amount_registered: Amount,
  amount_disbursed: Amount,
  duplicate: Count,
  over_quota: Count,
  invalid: Count,
  review_approved: Count,
  review_rejected: Count,
  overridden: Count,
  documents: Count,
  approval_rate: orNull(Type.Number({ minimum: 0, maximum: 1 })),
});

export const Business = form({
  by: oneOf(PERIODS),
  rows: Type.Array(Row),
  /** The cursor of the next page; null: this is the last one. */
  next: orNull(Type.String()),
});

export const BusinessQuery = form({
  by: Type.Optional(oneOf(PERIODS)),
  since: Type.Optional(Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' })),
  partner: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_ROWS })),
});

export function businessRoutes({ database }: { readonly database: Database }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/business',
      access: 'admin',
      summary:
        'What was registered, decided, signed and paid out, by period, partner and currency. Periods are in UTC.',
      query: BusinessQuery,
      reply: Business,
      run: async ({ query: { by = 'day', since, partner, cursor, limit = MOST_ROWS } }) => {
        if (since !== undefined && !isCalendarDay(since))
          return refused('since must be a day of the calendar');
        const after = cursor === undefined ? null : placeOfCursor(cursor);
        if (cursor !== undefined && after === null)
          return refused('cursor must be the next of the page before');
        const asked = { by, since: since ?? null, partnerId: partner ?? null };
        const { rows, next } = await reportPage(database, asked, after, limit);
        return { body: { by, rows: [...rows], next } };
      },
    }),
  ];
}

function refused(fault: string) {
  return { status: 400, body: { error: `query: ${fault}` } };
}
