/** Reads the report for those who see it: whole, or by page (docs/business.md). Reads only. */
import type { Session } from '../../../ground/postgres/database.ts';
import { cursorAfter, type ReportPlace, type ReportRow } from '../rules/report-row.ts';
import { type AskedReport, readReport, readWaitsReport, type WaitsRow } from '../sql/report.ts';

export { type AskedReport, readWaitsReport, type WaitsRow };

/** The members of a row and their order. */
export const MEMBERS = [
  'period',
  'partner_id',
  'country',
  'currency',
  'registered',
  'refused',
  'approved',
  'in_review',
  'rejected',
  'started',
  'offered',
  'signed',
  'withdrawn',
  'disbursed',
  'amount_registered',
  'amount_disbursed',
  'duplicate',
  'over_quota',
  'invalid',
  'review_approved',
  'review_rejected',
  'overridden',
  'documents',
  'approval_rate',
] as const satisfies readonly (keyof ReportRow)[];

/** The members of a row of median times, and their order. */
export const WAITS_MEMBERS = [
  'period',
  'partner_id',
  'country',
  'step',
  'times',
  'median_seconds',
] as const satisfies readonly (keyof WaitsRow)[];

/** Rows of a page. */
export const MOST_ROWS = 1_000;

export interface ReportPage {
  readonly rows: readonly ReportRow[];
  /** null: this is the last page. */
  readonly next: string | null;
}

/** A page of at most `limit` rows after a place; null: the first one. */
export async function reportPage(
  session: Session,
  asked: AskedReport,
  after: ReportPlace | null,
  limit: number,
): Promise<ReportPage> {
  const rows = (await readReport(session, asked, after, limit + 1)).map(inOrder);
  const isLast = rows.length <= limit;
  return { rows: rows.slice(0, limit), next: isLast ? null : cursorAfter(rows[limit - 1]!) };
}

/** All rows, page by page. */
export async function* reportRows(
  session: Session,
  asked: AskedReport,
): AsyncGenerator<ReportRow, void, undefined> {
  for (let after: ReportPlace | null = null; ; ) {
    const rows: ReportRow[] = await readReport(session, asked, after, MOST_ROWS);
    yield* rows.map(inOrder);
    if (rows.length < MOST_ROWS) return;
    after = rows.at(-1)!;
  }
}

function inOrder(row: ReportRow): ReportRow {
  return Object.fromEntries(MEMBERS.map((name) => [name, row[name]])) as unknown as ReportRow;
}
