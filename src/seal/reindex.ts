/** Makes stored blind indexes again when their key or their form changes, in steps of a transaction each. */
import type { Database, Transaction } from '../ground/postgres/database.ts';
import type { Vault } from './vault.ts';

/** The index with the new key from a stored one; both are the decimal text of a bigint. */
export type Again = (stored: string) => string;

/** Puts new indexes of phones ($2) in the place of old ones ($1), both arrays of bigint, one for one. */
export type MovePhones = (
  session: Transaction,
  before: readonly string[],
  after: readonly string[],
) => Promise<void>;

/** How the indexes are made again, and the MACs of rows. */
export interface Remaking {
  readonly again: Again;
  /** The vault, and the number in `Vault.derivedKeys` of the key that was the newest one until now. */
  readonly macs: { readonly vault: Vault; readonly before: number };
  /** Moves phones in the tables of all kinds, which have the new key by then. */
  readonly movePhones: MovePhones;
  /** What opens the values where their form is new too (`IndexOrigin`); null: the key alone is. */
  readonly opening: { readonly database: Database; readonly vault: Vault } | null;
}

/** What one step did. */
export interface ReindexStep {
  /** Where the next step begins; null: the step was the last one of its kind. */
  readonly next: string | null;
  /** How many indexes, or MACs, were made again. */
  readonly written: number;
  /** How many applications keep the earlier form, because their values do not open. */
  readonly unopened?: number;
}

/** Stored blind indexes, or MACs, of one kind. */
export interface Reindexing {
  /** In the plural: `open phones`. */
  readonly name: string;
  /**
   * Makes indexes again from a place on; the empty text is the beginning. A step locks the tables of one partition at
   * most, and makes no index again that an earlier step has made. Nobody else may write indexes meanwhile.
   */
  readonly step: (session: Transaction, remaking: Remaking, from: string) => Promise<ReindexStep>;
  /** True for the kind that opens values: it tells which phones move, so its steps come after all others. */
  readonly tellsMoves?: true;
  /** Where the kind has phones that are stored under their index alone. Calling it twice does no harm. */
  readonly movePhones?: MovePhones;
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

/**
 * Makes the indexes of columns again in one step: of tables without partitions. `moves` are the statements of
 * `movePhones`.
 */
export function reindexColumns(
  name: string,
  columns: readonly IndexColumn[],
  moves: readonly string[] = [],
): Reindexing {
  return {
    name,
    movePhones: async (session, before, after) => {
      for (const move of moves) await session.query(move, [before, after]);
    },
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
    // With the same key, where the form alone is new, an index stays.
    const old = rows.map(({ index }) => index).filter((index) => again(index) !== index);
    await session.query(write, [old, old.map(again)]);
    if (remove !== undefined) await session.query(remove, [old]);
    written += old.length;
  }
  await session.query('CLOSE stored');
  return written;
}
