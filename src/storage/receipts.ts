/** The retention of receipts: they are kept 24 hours (D36), and deleted when that time has certainly passed (D39). */
import type { Database } from './database.ts';
import { readSurplusRanges } from './surplus-ranges.ts';

const CHUNK = 5_000;
/** Receipts of envelopes that are still to be trimmed by them. */
const FIND_NEEDED = 'SELECT seal_id FROM batches WHERE surplus AND id >= $1 AND id < $2';
const DELETE = `
  DELETE FROM batch_receipts WHERE batch_id IN (
    SELECT r.batch_id FROM batch_receipts r
    WHERE r.stored_ms <= (SELECT ms FROM elapsed) - 25 * 3600000 AND r.batch_id <> ALL ($1::uuid[])
    ORDER BY r.stored_ms LIMIT ${CHUNK})`;

/** Deletes receipts that no request may ask for any more, in chunks that no batch has to wait for. */
export async function deleteOldReceipts(database: Database): Promise<number> {
  const needed: string[] = [];
  for (const { from, before } of await readSurplusRanges(database)) {
    const { rows } = await database.query<{ seal_id: string }>(FIND_NEEDED, [from, before]);
    for (const { seal_id } of rows) needed.push(seal_id);
  }
  let deleted = 0;
  for (;;) {
    const { rowCount } = await database.query(DELETE, [needed]);
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < CHUNK) return deleted;
  }
}
