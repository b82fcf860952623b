/** The retention of receipts: they live 24 hours (D36), and go when so much time has certainly passed (D39). */
import type { Database } from './database.ts';

const CHUNK = 5_000;
const DELETE = `
  DELETE FROM batch_receipts WHERE batch_id IN (
    SELECT r.batch_id FROM batch_receipts r WHERE r.stored_ms <= elapsed_ms() - 25 * 3600000
      AND NOT EXISTS (SELECT FROM batches b WHERE b.seal_id = r.batch_id AND b.surplus)
    ORDER BY r.stored_ms LIMIT ${CHUNK})`;

/** Deletes receipts that nobody may ask for any more, in chunks that no batch has to wait for. */
export async function deleteOldReceipts(database: Database): Promise<number> {
  let deleted = 0;
  for (;;) {
    const { rowCount } = await database.query(DELETE);
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < CHUNK) return deleted;
  }
}
