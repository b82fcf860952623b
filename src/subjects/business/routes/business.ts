/** The route of the operator API about the business in numbers (docs/business.md). It reads the counts alone. */
import { type Static, Type } from 'typebox';
import { STEPS } from '../../../domain/application/waits.ts';
import { isCalendarDay } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { form, oneOf, orNull, PartnerName, Time } from '../../../wire/operator/form.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { behindPlaceOf, cursorOfPlace, LISTED } from '../rules/behind.ts';
import { PERIODS, placeOfCursor } from '../rules/report-row.ts';
import { applicationsBehind } from '../uses/behind.ts';
import { businessPeriod } from '../uses/period.ts';
import { MOST_ROWS, reportPage } from '../uses/report.ts';

const MOST_BEHIND = 100;

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

const Day = Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' });
const Waits = Type.Array(
  form({
    step: oneOf(STEPS),
    /** Of how many applications. */
    times: Count,
    /** Known to a tenth. */
    median_seconds: Type.Integer({ minimum: 1 }),
  }),
);

/** A period and the one before it. */
export const BusinessPeriod = form({
  by: oneOf(PERIODS),
  /** The first day of each, in UTC. */
  period: Type.String({ format: 'date' }),
  before: Type.String({ format: 'date' }),
  /** False: the period goes on, and its counts grow. */
  is_over: Type.Boolean(),
  rows: Type.Array(Row),
  rows_before: Type.Array(Row),
  waits: Waits,
  waits_before: Waits,
  /** The decisions of the periods up to this one, without those in which nothing was registered. */
  series: Type.Array(
    form({ period: Type.String({ format: 'date' }), approved: Count, in_review: Count, rejected: Count }),
  ),
  /** The first day of the first period that `series` may have. */
  series_since: Type.String({ format: 'date' }),
  /** The open partners, and closed ones of `rows`, with their use of the last 24 hours; a cap of null: none. */
  partners: Type.Array(
    form({
      id: Type.Integer(),
      name: Type.String(),
      country: Type.String(),
      is_open: Type.Boolean(),
      used_24h: Count,
      daily_cap: orNull(Count),
    }),
  ),
});
export type BusinessPeriodReply = Static<typeof BusinessPeriod>;

const Partner = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });

const PERIOD_QUERY = {
  by: Type.Optional(oneOf(PERIODS)),
  /** The period that has this day; the newest one that is over if it is absent. */
  period: Type.Optional(Day),
  partner: Type.Optional(Partner),
  country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$' })),
  currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$' })),
};

export const BusinessPeriodQuery = form(PERIOD_QUERY);

export const BusinessQuery = form({
  by: Type.Optional(oneOf(PERIODS)),
  since: Type.Optional(Day),
  partner: Type.Optional(Partner),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_ROWS })),
});

export const BehindQuery = form({
  ...PERIOD_QUERY,
  number: oneOf(LISTED),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_BEHIND })),
});

/** The applications behind a number, without personal data. */
export const Behind = form({
  number: oneOf(LISTED),
  by: oneOf(PERIODS),
  period: Type.String({ format: 'date' }),
  applications: Type.Array(
    form({
      application_id: Type.Integer(),
      partner: PartnerName,
      /** When that happened. */
      at: Time,
      currency: Type.String(),
      debt_amount: Type.Number(),
      score: Type.Integer(),
    }),
  ),
  /** The cursor of the next page; null: this is the last one. A page may be short, or empty, and still have it. */
  next: orNull(Type.String()),
  /** Some of the period's events or offers may be deleted, and their applications are not in the list. */
  is_cut: Type.Boolean(),
});
export type BehindReply = Static<typeof Behind>;

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
    route({
      method: 'GET',
      path: '/business/period',
      access: 'admin',
      summary:
        'The business of one period (UTC) and of the one before, with median times and the use of caps.',
      query: BusinessPeriodQuery,
      reply: BusinessPeriod,
      run: async ({ query: { by = 'week', period, ...query } }) => {
        if (period !== undefined && !isCalendarDay(period))
          return refused('period must be a day of the calendar');
        const { span, partners, ...found } = await businessPeriod(database, {
          by,
          since: period ?? null,
          narrowed: narrowedBy(query),
        });
        return {
          body: {
            ...{ by, period: span.period, before: span.before, is_over: span.isOver },
            ...{ rows: found.rows, rows_before: found.rowsBefore },
            ...{ waits: waitsOf(found.waits), waits_before: waitsOf(found.waitsBefore) },
            ...{ series: found.series, series_since: span.first },
            partners: partners.map(({ isOpen, used, dailyCap, ...one }) => ({
              ...one,
              is_open: isOpen,
              used_24h: used,
              daily_cap: dailyCap,
            })),
          },
        };
      },
    }),
    route({
      method: 'GET',
      path: '/business/applications',
      access: 'admin',
      summary:
        'The applications behind a number of a period: those of registrations and offers newest first, those of events by partner and newest first.',
      query: BehindQuery,
      reply: Behind,
      run: async ({ query: { number, by = 'week', period, cursor, limit = MOST_BEHIND, ...query } }) => {
        if (period !== undefined && !isCalendarDay(period))
          return refused('period must be a day of the calendar');
        const after = cursor === undefined ? null : behindPlaceOf(number, cursor);
        if (cursor !== undefined && after === null)
          return refused('cursor must be the next of the page before');
        const asked = { number, by, since: period ?? null, narrowed: narrowedBy(query), after, limit };
        const found = await applicationsBehind(database, asked);
        const next = found.next && cursorOfPlace(found.next);
        const shown = { number, by, ...found, applications: found.rows, next };
        return { body: inForm(Behind, shown) };
      },
    }),
  ];
}

interface Filters {
  readonly partner?: number;
  readonly country?: string;
  readonly currency?: string;
}

function narrowedBy({ partner, country, currency }: Filters) {
  return { partnerId: partner ?? null, country: country ?? null, currency: currency ?? null };
}

type Found = Awaited<ReturnType<typeof businessPeriod>>;

function waitsOf(waits: Found['waits']) {
  return waits.map(({ medianS, ...wait }) => ({ ...wait, median_seconds: medianS }));
}

function refused(fault: string) {
  return { status: 400, body: { error: `query: ${fault}` } };
}
