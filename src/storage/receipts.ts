/** The retention of receipts: they live 24 hours (D36). */
import type { Database } from './database.ts';

const RETENTION_MS = 25 * 60 * 60_000;
const CHUNK = 5_000;
const DELETE = `
  DELETE FROM batch_receipts WHERE batch_id IN (
    SELECT r.batch_id FROM batch_receipts r WHERE r.batch_id < $1
      AND NOT EXISTS (SELECT FROM batches b WHERE b.id = r.batch_id AND b.surplus)
    ORDER BY r.batch_id LIMIT ${CHUNK})`;

/** Deletes receipts that nobody may ask for any more, in chunks that no batch has to wait for. */
export async function deleteOldReceipts(database: Database, now: Date): Promise<number> {
  const boundary = firstUuidV7At(now.getTime() - RETENTION_MS);
  let deleted = 0;
  for (;;) {
    const { rowCount } = await database.query(DELETE, [boundary]);
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < CHUNK) return deleted;
  }
}

/** The least version 7 UUID of a millisecond (RFC 9562, section 5.7). */
export function firstUuidV7At(ms: number): string {
  const time = Math.max(ms, 0).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
