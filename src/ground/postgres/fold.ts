/**
 * Folds a table of counts: many small changes become one row for each key. Any table that declares a `Fold`
 * (`table.ts`). ARCHITECTURE, "Upkeep", has the rule.
 */
import type { Database } from './database.ts';
import type { Fold, Table } from './table.ts';

/** Most rows that one statement folds. */
export const FOLD_CHUNK = 50_000;

/** Folds some rows, and tells how many (`taken`). Leaves rows alone that another process folds at this moment. */
export function foldStatement({ name, fold: { key, sums } }: FoldedTable): string {
  const [keys, columns] = [key.join(', '), [...key, ...sums].join(', ')];
  const [added, isSome] = [sums.map((sum) => `sum(${sum})`), sums.map((sum) => `sum(${sum}) <> 0`)];
  return `
    WITH taken AS (
      DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${name} LIMIT ${FOLD_CHUNK} FOR UPDATE SKIP LOCKED))
      RETURNING ${columns}
    ), folded AS (
      INSERT INTO ${name} (${columns}) SELECT ${keys}, ${added.join(', ')} FROM taken
      GROUP BY ${keys} HAVING ${isSome.join(' OR ')}
    )
    SELECT count(*)::integer AS taken FROM taken`;
}

export type FoldedTable = Pick<Table, 'name'> & { readonly fold: Fold };

/** Folds the rows of each key of a table into one. Any number of processes may do this at once. */
export async function foldRows(database: Database, table: FoldedTable): Promise<void> {
  const text = foldStatement(table);
  for (;;) {
    const { rows } = await database.query<{ taken: number }>(text);
    if ((rows[0]?.taken ?? 0) < FOLD_CHUNK) return;
  }
}
