/** The number of documents by state (`document_counts`). */
import type { Database } from '../../../ground/postgres/database.ts';
import { FOLD_CHUNK, foldAll } from '../../../ground/postgres/fold.ts';

/** Leaves rows alone that another process folds at this moment. */
const FOLD = `
  WITH taken AS (
    DELETE FROM document_counts WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM document_counts LIMIT ${FOLD_CHUNK} FOR UPDATE SKIP LOCKED))
    RETURNING state, documents, bytes
  ), folded AS (
    INSERT INTO document_counts SELECT state, sum(documents), sum(bytes) FROM taken GROUP BY state
  )
  SELECT count(*)::integer AS taken FROM taken`;

/** Folds the rows of each state into one. Any number of processes may do this at once. */
export function foldDocumentCounts(database: Database): Promise<void> {
  return foldAll(database, FOLD);
}
