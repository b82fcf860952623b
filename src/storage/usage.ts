/** What a partner has used of its quota, and the upkeep of the ledger (D18). */
import type { Database } from './database.ts';

/** Applications that the partner registered in the 24 hours before now, over all its keys. */
export async function usedNow(database: Database, partnerId: number): Promise<{ used: number; at: Date }> {
  const { rows } = await database.query<{ used: string; at: Date }>({
    name: 'used_now',
    text: 'SELECT usage_at($1, now()) AS used, now() AS at',
    values: [partnerId],
  });
  const row = rows[0];
  return { used: Number(row?.used ?? 0), at: row?.at ?? new Date() };
}

/**
 * Moves each running total forward to seconds in which nothing can be added any more: older than a minute
 * and than every transaction that still runs. Entries that left the window go.
 */
const ADVANCE = `
  WITH horizon AS (
    SELECT date_trunc('second', now()) - interval '24 hours' AS since,
      date_trunc('second', least(now() - interval '1 minute', (
        SELECT min(xact_start) - interval '1 second' FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()))) AS until
  ), locked AS MATERIALIZED (
    SELECT t.* FROM usage_totals t WHERE t.partner_id = $1 FOR NO KEY UPDATE
  ), gone AS (
    DELETE FROM usage_entries e USING locked l, horizon h
    WHERE e.partner_id = l.partner_id AND e.second <= least(h.since, h.until)
    RETURNING e.second, e.count
  )
  UPDATE usage_totals t SET
    since = greatest(l.since, least(h.since, h.until)),
    until = greatest(l.until, h.until),
    total = l.total
      - coalesce((SELECT sum(g.count) FROM gone g WHERE g.second > l.since AND g.second <= l.until), 0)
      + coalesce((SELECT sum(e.count) FROM usage_entries e WHERE e.partner_id = l.partner_id
          AND e.second > greatest(l.until, least(h.since, h.until)) AND e.second <= h.until), 0)
  FROM locked l, horizon h WHERE t.partner_id = l.partner_id`;

/** Advances the running total of every partner. Any number of processes may do it at once. */
export async function advanceUsage(database: Database): Promise<void> {
  const { rows } = await database.query<{ partner_id: number }>(
    'SELECT partner_id FROM usage_totals ORDER BY partner_id',
  );
  for (const { partner_id } of rows) await database.query(ADVANCE, [partner_id]);
}
