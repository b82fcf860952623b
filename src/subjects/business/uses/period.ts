/** Reads one period of the business and the one before, for the page of the console (docs/business.md). Reads only. */
import type { Session } from '../../../ground/postgres/database.ts';
import type { Period } from '../rules/report-row.ts';
import { type Narrowed, readPartners, readRows, readSeries, readSpan, readWaits } from '../sql/summary.ts';

/** The period that has a day, `since`; null: the newest one that is over. */
export async function businessPeriod(
  session: Session,
  {
    by,
    since,
    narrowed,
  }: { readonly by: Period; readonly since: string | null; readonly narrowed: Narrowed },
) {
  const span = await readSpan(session, by, since);
  const now = [span.period, span.after] as const;
  const before = [span.before, span.period] as const;
  const rows = await readRows(session, now, narrowed);
  return {
    span,
    rows,
    rowsBefore: await readRows(session, before, narrowed),
    waits: await readWaits(session, by, now, narrowed),
    waitsBefore: await readWaits(session, by, before, narrowed),
    series: await readSeries(session, by, span, narrowed),
    partners: await readPartners(
      session,
      rows.map((row) => row.partner_id),
    ),
  };
}
