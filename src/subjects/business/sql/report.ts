/**
 * Reads the report from the counts (docs/business.md). Reads `business_hours`, `business_waits` and `partners`; no
 * table of applications.
 */
import type { Session } from '../../../ground/postgres/database.ts';
import {
  type Period,
  type ReportPlace,
  type ReportRow,
  type StoredRow,
  shownRow,
} from '../rules/report-row.ts';
import { AMOUNTS, COUNTS, REFUSALS } from '../rules/tally.ts';
import { STEPS, type Step, secondsOf } from '../rules/wait.ts';

/** What a report shows. */
export interface AskedReport {
  readonly by: Period;
  /** The first day; the report begins with the period that has it. null: that of 30 days ago. */
  readonly since: string | null;
  readonly partnerId: number | null;
}

const PERIOD = "date_trunc($1, b.hour AT TIME ZONE 'UTC')";
const sum = (name: string) => `sum(b.${name})::float8 AS ${name}`;

/** The hours from a day on are in the order of the key. */
const PAGE = `
  SELECT to_char(${PERIOD}, 'YYYY-MM-DD') AS period, b.partner_id, p.country, b.currency, ${COUNTS.map(sum).join(', ')},
    ${AMOUNTS.map((name) => `sum(b.${name})::text AS ${name}`).join(', ')}, ${REFUSALS.map(sum).join(', ')},
    sum(${REFUSALS.map((name) => `b.${name}`).join(' + ')})::float8 AS refused
  FROM business_hours b JOIN partners p ON p.id = b.partner_id
  WHERE b.hour >= date_trunc($1, coalesce($4::date, $2::date, (now() AT TIME ZONE 'UTC')::date - 30)::timestamp) AT TIME ZONE 'UTC'
    AND ($3::integer IS NULL OR b.partner_id = $3)
    AND ($4::date IS NULL OR (${PERIOD}, b.partner_id, b.currency) > ($4::date::timestamp, $5::integer, $6::text))
  GROUP BY ${PERIOD}, b.partner_id, p.country, b.currency
  ORDER BY ${PERIOD}, b.partner_id, b.currency LIMIT $7`;

/** The first rows of a report after a place, in the order of period, partner and currency; null: from its beginning. */
export async function readReport(
  session: Session,
  { by, since, partnerId }: AskedReport,
  after: ReportPlace | null,
  limit: number,
): Promise<ReportRow[]> {
  const { rows } = await session.query<StoredRow & Record<string, unknown>>(PAGE, [
    ...[by, since, partnerId],
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
    WHERE b.day >= date_trunc($1, coalesce($2::date, (now() AT TIME ZONE 'UTC')::date - 30)::timestamp)::date
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
  const { rows } = await session.query<Row & Record<string, unknown>>(WAITS, [by, since, partnerId]);
  return rows
    .map(({ bucket, ...row }) => ({ ...row, median_seconds: secondsOf(bucket) }))
    .toSorted(
      (a, b) =>
        a.period.localeCompare(b.period) ||
        a.partner_id - b.partner_id ||
        STEPS.indexOf(a.step) - STEPS.indexOf(b.step),
    );
}
