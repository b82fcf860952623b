/**
 * Reads the report from the counts (docs/business.md). Reads `business_days`, `business_waits` and `partners`; no
 * table of applications.
 */
import { STEPS, type Step, secondsOf } from '../../../domain/application/waits.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import {
  type Period,
  perOf,
  type ReportPlace,
  type ReportRow,
  type StoredRow,
  shownRow,
} from '../rules/report-row.ts';
import { AMOUNTS, COUNTS, REFUSALS } from '../rules/tally.ts';

/** What a report shows. */
export interface AskedReport {
  readonly by: Period;
  /** The first day; the report begins with the period that has it. null: that of 30 days ago. */
  readonly since: string | null;
  readonly partnerId: number | null;
}

const sum = (name: string) => `sum(b.${name})::float8 AS ${name}`;

const NAMES = [...COUNTS, ...AMOUNTS, ...REFUSALS, 'refused'];

/** The days from one on are in the order of the key: rows of days are read up to the last one of the page. */
function pageOf(by: Period): string {
  const period = by === 'day' ? 'b.day' : `date_trunc('${by}', b.day::timestamp)::date`;
  return `
  SELECT to_char(g.period, 'YYYY-MM-DD') AS period, g.partner_id, p.country, g.currency, ${NAMES.map((name) => `g.${name}`).join(', ')}
  FROM (
    SELECT ${period} AS period, b.partner_id, b.currency, ${COUNTS.map(sum).join(', ')},
      ${AMOUNTS.map((name) => `sum(b.${name})::text AS ${name}`).join(', ')}, ${REFUSALS.map(sum).join(', ')},
      sum(${REFUSALS.map((name) => `b.${name}`).join(' + ')})::float8 AS refused
    FROM business_days b
    WHERE b.day >= date_trunc('${by}', coalesce($3::date, $1::date, (now() AT TIME ZONE 'UTC')::date - 30)::timestamp)::date
      AND ($2::integer IS NULL OR b.partner_id = $2)
      AND ($3::date IS NULL OR (${period}, b.partner_id, b.currency) > ($3::date, $4::integer, $5::text))
    GROUP BY ${period}, b.partner_id, b.currency ORDER BY ${period}, b.partner_id, b.currency LIMIT $6) AS g
  JOIN partners p ON p.id = g.partner_id ORDER BY g.period, g.partner_id, g.currency`;
}

const PAGES = { day: pageOf('day'), week: pageOf('week'), month: pageOf('month') } as const;

/** The first rows of a report after a place, in the order of period, partner and currency; null: from its beginning. */
export async function readReport(
  session: Session,
  { by, since, partnerId }: AskedReport,
  after: ReportPlace | null,
  limit: number,
): Promise<ReportRow[]> {
  const { rows } = await session.query<StoredRow & Record<string, unknown>>(PAGES[by], [
    ...[since, partnerId],
    ...[after?.period ?? null, after?.partner_id ?? null, after?.currency ?? null],
    limit,
  ]);
  return rows.map(shownRow);
}

/** How long a partner's applications took to a step in a period. */
export interface WaitsRow {
  /** The first day of the period, `YYYY-MM-DD`. */
  readonly period: string;
  readonly partner_id: number;
  readonly country: string;
  readonly step: Step;
  /** Of how many applications. */
  readonly times: number;
  /** Known to a tenth. */
  readonly median_seconds: number;
}

const WAITS = `
  WITH counted AS (
    SELECT date_trunc($1, b.day::timestamp) AS period, b.partner_id, b.step, b.bucket, sum(b.times) AS times
    FROM business_waits b
    WHERE b.per = $4 AND b.day = ANY (ARRAY(
        SELECT d::date FROM generate_series(
          date_trunc($1, coalesce($2::date, (now() AT TIME ZONE 'UTC')::date - 30)::timestamp),
          now() AT TIME ZONE 'UTC' + interval '1 day', ('1 ' || $4)::interval) AS d))
      AND ($3::integer IS NULL OR b.partner_id = $3)
    GROUP BY 1, 2, 3, 4
  ), added AS (
    SELECT c.*, sum(c.times) OVER w AS all_times, sum(c.times) OVER (w ORDER BY c.bucket) AS up_to
    FROM counted c WINDOW w AS (PARTITION BY c.period, c.partner_id, c.step)
  )
  SELECT DISTINCT ON (a.period, a.partner_id, a.step) to_char(a.period, 'YYYY-MM-DD') AS period, a.partner_id,
    p.country, a.step, a.all_times::float8 AS times, a.bucket::integer
  FROM added a JOIN partners p ON p.id = a.partner_id
  WHERE a.up_to * 2 >= a.all_times
  ORDER BY a.period, a.partner_id, a.step, a.bucket`;

/** The median times to the steps, by period and partner, in the order of the business's way. */
export async function readWaitsReport(
  session: Session,
  { by, since, partnerId }: AskedReport,
): Promise<WaitsRow[]> {
  type Row = Omit<WaitsRow, 'median_seconds'> & { readonly bucket: number };
  const { rows } = await session.query<Row & Record<string, unknown>>(WAITS, [
    ...[by, since, partnerId, perOf(by)],
  ]);
  return rows
    .map(({ bucket, ...row }) => ({ ...row, median_seconds: secondsOf(bucket) }))
    .toSorted(
      (a, b) =>
        a.period.localeCompare(b.period) ||
        a.partner_id - b.partner_id ||
        STEPS.indexOf(a.step) - STEPS.indexOf(b.step),
    );
}
