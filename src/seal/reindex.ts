/**
 * Makes stored blind indexes again when their key or their form changes, a step in each transaction. Reads and writes
 * the index columns that tables declare (`ground/postgres/table.ts`). docs/keys.md ("The index key") has the rule.
 */
import type { Database, Transaction } from '../ground/postgres/database.ts';
import type { IndexColumn, Table } from '../ground/postgres/table.ts';
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
  /** The vault, and which key of `Vault.derivedKeys` was the newest until now, by its number. */
  readonly macs: { readonly vault: Vault; readonly before: number };
  /** Moves phones in the tables of all kinds, whose indexes have the new key by then. */
  readonly movePhones: MovePhones;
  /** Opens the values if their form is new too (`IndexOrigin`); null: only the key is new. */
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
  /** For a kind with phones that are stored only as an index. Calling it twice does no harm. */
  readonly movePhones?: MovePhones;
}

export type IndexedTable = Pick<Table, 'name'> & { readonly indexes: readonly IndexColumn[] };

const AT_ONCE = 10_000;

/** Makes the indexes of the columns of a table without partitions again, in one step. */
export function reindexedTable({ name, indexes }: IndexedTable): Reindexing {
  return {
    name: name.replaceAll('_', ' '),
    movePhones: async (session, before, after) => {
      for (const { column, moves = [] } of indexes) {
        const statements = moves === 'as replaced' ? [replaceStatement(name, column)] : moves;
        for (const text of statements) await session.query(text, [before, after]);
      }
    },
    step: async (session, { again }) => {
      let written = 0;
      for (const { column, isUnique = false } of indexes) {
        const read = `SELECT ${isUnique ? '' : 'DISTINCT '}${column} AS index FROM ${name} WHERE ${column} IS NOT NULL`;
        written += await reindexColumn(session, again, { read, write: replaceStatement(name, column) });
      }
      return { next: null, written };
    },
  };
}

/** Writes new indexes ($2) in the place of old ones ($1), both arrays of bigint. */
export function replaceStatement(table: string, column: string): string {
  return `
    UPDATE ${table} t SET ${column} = g.after
    FROM unnest($1::bigint[], $2::bigint[]) AS g(before, after) WHERE t.${column} = g.before`;
}

/** The statements for one column. */
interface ColumnStatements {
  /** Reads each different index once, as `index`. */
  readonly read: string;
  readonly write: string;
  /** Removes the rows of the old indexes ($1), if `write` adds rows. */
  readonly remove?: string;
}

/**
 * Makes the indexes of a column again, by $1 and $2 as in `replaceStatement`. The cursor sees the rows as they were at
 * its beginning, so it meets no new index. Resolves to how many.
 */
export async function reindexColumn(
  session: Transaction,
  again: Again,
  { read, write, remove }: ColumnStatements,
): Promise<number> {
  let written = 0;
  await session.query(`DECLARE stored NO SCROLL CURSOR FOR ${read}`);
  for (;;) {
    const { rows } = await session.query<{ index: string }>(`FETCH ${AT_ONCE} FROM stored`);
    if (rows.length === 0) break;
    // If only the form is new, the key is the same, and an index stays.
    const old = rows.map(({ index }) => index).filter((index) => again(index) !== index);
    await session.query(write, [old, old.map(again)]);
    if (remove !== undefined) await session.query(remove, [old]);
    written += old.length;
  }
  await session.query('CLOSE stored');
  return written;
}
