/** A file of applicants as a table, whatever its format. */

/** A cell that a spreadsheet holds as something else than it shows: it is no applicant's value. */
export class Unusable {
  readonly what: 'a date' | 'a percentage' | 'a formula without a value' | 'a formula error';
  /** As text, for the file of the rejected rows. */
  readonly text: string;
  constructor(what: Unusable['what'], text: string) {
    this.what = what;
    this.text = text;
  }
}

/** null: empty or not there; so is a blank text. An object that is not `Unusable` is nested JSON. */
export type Cell = string | number | boolean | null | Unusable | object;

export interface FileRow {
  /** As a spreadsheet or an editor counts: row 1 is the first line; in a JSON array the first element. */
  readonly number: number;
  /** In the order of the table's columns; may be shorter. */
  readonly cells: readonly Cell[];
  /** Why the row as a whole cannot be read; null where it can. */
  readonly fault: string | null;
}

export interface Table {
  /** The names as the file has them, in its order. Empty where a column has none. */
  readonly columns: readonly string[];
  /** What a person should know about how the file is read. */
  readonly notes: readonly string[];
  /**
   * Reads the file from its beginning, in bounded memory: so many rows at once as a piece of it holds, or none. Rows
   * without any value are left out. Throws `BulkError`.
   */
  rows(): AsyncIterable<readonly FileRow[]>;
}

/** More is not a list of applicants. */
export const MAX_COLUMNS = 1_000;
/** The most that one row may hold: bytes of JSON, characters of CSV and XLSX. */
export const MAX_ROW_SIZE = 1024 * 1024;

/** True where a cell holds nothing to read. */
export function isEmpty(cell: Cell | undefined): boolean {
  return cell === null || cell === undefined || (typeof cell === 'string' && cell.trim() === '');
}

/** True where a row holds no value at all. */
export function isBlank(cells: readonly Cell[]): boolean {
  for (const cell of cells) if (!isEmpty(cell)) return false;
  return true;
}
