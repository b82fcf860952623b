/** The retention of receipts: they are kept 24 hours (D36), and deleted when that time has certainly passed (D39). */
import type { Database } from '../../postgres/database.ts';

const CHUNK = 5_000;
const DELETE = `
  DELETE FROM batch_receipts WHERE batch_id IN (
    SELECT r.batch_id FROM batch_receipts r
    WHERE r.stored_ms <= (SELECT ms FROM elapsed) - ms_of(receipt_life() + interval '1 hour')
    ORDER BY r.stored_ms LIMIT ${CHUNK})`;

/** Deletes receipts that no request may ask for any more, in chunks that no batch has to wait for. */
export async function deleteOldReceipts(database: Database): Promise<number> {
  let deleted = 0;
  for (;;) {
    const { rowCount } = await database.query(DELETE);
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < CHUNK) return deleted;
  }
}
