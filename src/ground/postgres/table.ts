/**
 * What the owner of a table declares about it. Each room with tables declares them in its file `tables.ts`. Each part
 * is read by one engine: `forget.ts` and `fold.ts` for the upkeep, `seal/sealed-rows.ts` and `seal/reindex.ts` for the
 * replacement of keys. Names and SQL are constants of the program, never a value that somebody sends. ARCHITECTURE,
 * "Upkeep", has the rule.
 */

export interface Table {
  readonly name: string;
  /** How a row leads to a person; `not`: it leads to nobody, and this is what it holds. */
  readonly person: 'application' | 'blind index' | { readonly not: string };
  /** How long its rows are kept: for an age alone. */
  readonly kept?: Kept;
  readonly fold?: Fold;
  readonly sealed?: SealedColumn;
  readonly indexes?: readonly IndexColumn[];
}

/** Which rows a rare job of the upkeep deletes. */
export interface Kept {
  /** The job of the upkeep; tables may share one. */
  readonly job: string;
  /** The condition in SQL for the rows that are deleted: `aged` and the like. */
  readonly until: string;
  /**
   * The column in whose order rows are deleted, because an index begins with it; `scan`: why the table may be read from
   * end to end.
   */
  readonly by: string | { readonly scan: string };
  /** No statement changes a row: none needs to be locked before it is deleted. */
  readonly isFixed?: true;
}

/** Counts that are kept as many small changes, and folded into a row of each key. */
export interface Fold {
  /** The job of the upkeep. */
  readonly job: string;
  readonly key: readonly string[];
  /** The columns that are added up. A row in which all are 0 is deleted. */
  readonly sums: readonly string[];
}

/**
 * A column of sealed values. They begin with the id of their data key; if the table has many rows, an index begins with
 * it.
 */
export interface SealedColumn {
  readonly column: string;
  /** In the plural, as operators see it: `documents`. */
  readonly kind: string;
  /** The primary key: one number. */
  readonly id: string;
  /** The parts of the identity that a value is sealed under, as texts: columns, or SQL over them. */
  readonly under: readonly string[];
  readonly identity: (...under: readonly string[]) => string;
}

/** A column of blind indexes. */
export interface IndexColumn {
  readonly column: string;
  /** No two rows have the same one. */
  readonly isUnique?: true;
  /**
   * How the rows of a phone get another index ($2 in the place of $1, both arrays of bigint) if the form of indexes is
   * new: by these statements, or in the same way as for a new key.
   */
  readonly moves?: 'as replaced' | readonly string[];
}

/** Whether a table is declared with a part. */
export function isDeclared<Part extends keyof Table>(
  table: Table,
  part: Part,
): table is Table & Required<Pick<Table, Part>> {
  return table[part] !== undefined;
}

/** The rows whose age is certainly more than an interval of SQL (D39): `column` has the value of `elapsed_ms()`. */
export function aged(column: string, interval: string): string {
  return `${column} <= elapsed_ms() - ms_of(${interval})`;
}
