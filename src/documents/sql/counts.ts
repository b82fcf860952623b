/** The number of documents by state (`document_counts`). */
import type { Database } from '../../postgres/database.ts';

/** Most rows that one statement folds. */
const CHUNK = 50_000;

/** Leaves rows alone that another process folds at this moment. */
const FOLD = `
  WITH taken AS (
    DELETE FROM document_counts WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM document_counts LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED))
    RETURNING state, documents, bytes
  ), folded AS (
    INSERT INTO document_counts SELECT state, sum(documents), sum(bytes) FROM taken GROUP BY state
  )
  SELECT count(*)::integer AS taken FROM taken`;

/** Folds the rows of each state into one. Any number of processes may do this at once. */
export async function foldDocumentCounts(database: Database): Promise<void> {
  for (;;) {
    const { rows } = await database.query<{ taken: number }>(FOLD);
    if ((rows[0]?.taken ?? 0) < CHUNK) return;
  }
}
