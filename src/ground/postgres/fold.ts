/** Counts that are kept as many small changes, and folded into few rows. */
import type { Database } from './database.ts';

/** Most rows that one statement folds. */
export const FOLD_CHUNK = 50_000;

/**
 * Runs a statement that folds up to `FOLD_CHUNK` rows and tells how many it took (`taken`), until fewer are left. The
 * statement leaves rows alone that another process folds, so any number of processes may do this at once.
 */
export async function foldAll(database: Database, fold: string): Promise<void> {
  for (;;) {
    const { rows } = await database.query<{ taken: number }>(fold);
    if ((rows[0]?.taken ?? 0) < FOLD_CHUNK) return;
  }
}
