/**
 * Reads a partner's usage, and moves the usage ledger on in the upkeep (D18, D39; ARCHITECTURE, "Clocks"). Reads and
 * writes `usage_totals` and the ledger by `usage_at` and `advance_usage`.
 */
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { type Database, onlyRow } from '../../../ground/postgres/database.ts';
import { isRowFault } from '../../../ground/postgres/row-fault.ts';

/** What a partner has registered in the 24 hours before now, over all its keys. */
export interface UsedNow {
  readonly used: number;
  readonly at: Date;
  /** Whole seconds until the oldest of it counts no more; null: nothing counts. */
  readonly freedInS: number | null;
}

/** The first second that counts, by the primary keys of both tables, and the end of its 24 hours. */
const USED = `
  SELECT coalesce(usage_at($1, now()), 0)::float8 AS used, now() AS at,
    ceil(extract(epoch FROM least(
      (SELECT min(c.second) FROM usage_counted c WHERE c.partner_id = $1 AND c.second > now() - usage_window()),
      (SELECT min(e.second) FROM usage_entries e WHERE e.partner_id = $1 AND e.second > now() - usage_window()))
      + usage_window() - now()))::float8 AS "freedInS"`;

/** Reads the usage of a partner. */
export async function usedNow(database: Database, partnerId: PartnerId): Promise<UsedNow> {
  const { rows } = await database.query<UsedNow>({ name: 'used_now', text: USED, values: [partnerId] });
  return onlyRow(rows);
}

/**
 * Advances the running total of every partner. Any number of processes may do this at once. If it fails for one
 * partner, the others are still advanced, and this throws at the end.
 */
export async function advanceUsage(database: Database): Promise<void> {
  const { rows } = await database.query<{ partner_id: PartnerId }>(
    'SELECT partner_id FROM usage_totals ORDER BY partner_id',
  );
  const faults: unknown[] = [];
  for (const { partner_id } of rows) {
    await database.query('SELECT advance_usage($1)', [partner_id]).catch((error: unknown) => {
      if (!isRowFault(error)) throw error;
      faults.push(error);
    });
  }
  if (faults.length > 0) throw faults[0];
}
