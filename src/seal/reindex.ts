/** Makes stored blind indexes again when the index key is replaced, in one transaction of all tables. */
import type { Transaction } from '../postgres/database.ts';

/** The index with the new key from a stored one; both are the decimal text of a bigint. */
export type Again = (stored: string) => string;

/** Makes all indexes of a subject again. Returns how many different ones were written. */
export type Reindexing = (session: Transaction, again: Again) => Promise<number>;

/** The statements for one column. */
export interface IndexColumn {
  /** Reads each different index once, as `index`. */
  readonly read: string;
  /** Writes new indexes ($2) in the place of old ones ($1), both arrays of bigint. */
  readonly write: string;
  /** Removes the rows of the old indexes ($1), where `write` adds rows. */
  readonly remove?: string;
}

const AT_ONCE = 10_000;

/**
 * Makes the indexes of columns again. The cursor sees the rows as they were at its beginning, so it meets no new index.
 */
export async function reindexColumns(
  session: Transaction,
  again: Again,
  columns: readonly IndexColumn[],
): Promise<number> {
  let written = 0;
  for (const { read, write, remove } of columns) {
    await session.query(`DECLARE stored NO SCROLL CURSOR FOR ${read}`);
    for (;;) {
      const { rows } = await session.query<{ index: string }>(`FETCH ${AT_ONCE} FROM stored`);
      if (rows.length === 0) break;
      const old = rows.map(({ index }) => index);
      await session.query(write, [old, old.map(again)]);
      if (remove !== undefined) await session.query(remove, [old]);
      written += old.length;
    }
    await session.query('CLOSE stored');
  }
  return written;
}
