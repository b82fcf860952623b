/** The number of open conversations by step and holder (`conversation_counts`). */
import type { Database } from '../../../ground/postgres/database.ts';
import { FOLD_CHUNK, foldAll } from '../../../ground/postgres/fold.ts';

/** Leaves rows alone that another process folds at this moment. */
const FOLD = `
  WITH taken AS (
    DELETE FROM conversation_counts WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM conversation_counts LIMIT ${FOLD_CHUNK} FOR UPDATE SKIP LOCKED))
    RETURNING step, holder, conversations
  ), folded AS (
    INSERT INTO conversation_counts SELECT step, holder, sum(conversations) FROM taken
    GROUP BY step, holder HAVING sum(conversations) <> 0
  )
  SELECT count(*)::integer AS taken FROM taken`;

/** Folds the rows of each step and holder into one. Any number of processes may do this at once. */
export function foldConversationCounts(database: Database): Promise<void> {
  return foldAll(database, FOLD);
}
