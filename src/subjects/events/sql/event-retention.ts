/**
 * Deletes partner events after 30 days, by the clock and by the elapsed time (D39, D41). Reads `partner_event_totals`
 * and `elapsed`, writes by `forget_partner_events`.
 */
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Database } from '../../../ground/postgres/database.ts';

/** The events that one statement deletes. New events of their partner wait meanwhile. */
const CHUNK = 1_000;

/**
 * Partners whose oldest event may be old. The row of another partner is not locked, because a lock writes to the disk.
 */
const PARTNERS = `
  SELECT t.partner_id FROM partner_event_totals t CROSS JOIN LATERAL (
    SELECT e.stored_ms FROM partner_events e
    WHERE e.partner_id = t.partner_id AND e.number > t.forgotten ORDER BY e.number LIMIT 1
  ) AS oldest
  WHERE oldest.stored_ms <= (SELECT ms FROM elapsed) - ms_of(partner_event_life()) ORDER BY t.partner_id`;
const FORGET = 'SELECT forget_partner_events($1, $2) AS deleted';

/** Deletes old events. From then on a cursor that points before them is refused. */
export async function forgetPartnerEvents(database: Database): Promise<void> {
  const { rows: partners } = await database.query<{ partner_id: PartnerId }>(PARTNERS);
  for (const { partner_id: partnerId } of partners) {
    for (;;) {
      const { rows } = await database.query<{ deleted: string }>(FORGET, [partnerId, CHUNK]);
      if (Number(rows[0]?.deleted ?? 0) < CHUNK) break;
    }
  }
}
