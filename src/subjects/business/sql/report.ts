/**
 * Reads the report from the counts (docs/business.md). Reads `business_hours` and `partners`; no table of applications.
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
