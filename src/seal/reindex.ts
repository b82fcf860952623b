/** Makes stored blind indexes again when their key or their form changes, in steps of a transaction each. */
import type { Database, Transaction } from '../postgres/database.ts';
import type { Vault } from './vault.ts';

/** The index with the new key from a stored one; both are the decimal text of a bigint. */
export type Again = (stored: string) => string;

/** How the indexes are made again. */
export interface Remaking {
  readonly again: Again;
  /** What opens the values where their form is new too (`IndexOrigin`); null: the key alone is. */
  readonly opening: { readonly database: Database; readonly vault: Vault } | null;
}

/** What one step did. */
export interface ReindexStep {
  /** Where the next step begins; null: the step was the last one of its kind. */
  readonly next: string | null;
  /** How many indexes were made again. */
  readonly written: number;
  /** How many applications keep the earlier form, because their values do not open. */
  readonly unopened?: number;
}

/** Stored blind indexes of one kind. */
export interface Reindexing {
  /** In the plural: `open phones`. */
  readonly name: string;
  /**
   * Makes indexes again from a place on; the empty text is the beginning. A step locks the tables of one partition at
   * most, and makes no index again that an earlier step has made. Nobody else may write indexes meanwhile.
   */
  readonly step: (session: Transaction, remaking: Remaking, from: string) => Promise<ReindexStep>;
}

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

/** Makes the indexes of columns again in one step: of tables without partitions. */
export function reindexColumns(name: string, columns: readonly IndexColumn[]): Reindexing {
  return {
    name,
    step: async (session, { again }) => {
      let written = 0;
      for (const column of columns) written += await reindexColumn(session, again, column);
      return { next: null, written };
    },
  };
}

/** The cursor sees the rows as they were at its beginning, so it meets no new index. */
async function reindexColumn(session: Transaction, again: Again, { read, write, remove }: IndexColumn) {
  let written = 0;
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
  return written;
}
