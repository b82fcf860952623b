/**
 * Merged cells of a sheet. A merged cell shows one value in several rows or columns, and the file holds the value in
 * the first one alone. The file lists merged cells after all rows.
 */

/** Excel has no more rows. Rows beyond count as having values. */
const MAX_ROWS = 1_048_576;

export class MergedCells {
  readonly #header: number;
  readonly #columns: readonly string[];
  /** A bit for each row with a value. */
  readonly #rows = new Uint8Array(MAX_ROWS / 8 + 1);
  #lastRow = 0;
  /** The columns without a name in which rows have values. */
  readonly #nameless = new Set<number>();
  readonly #withoutName: readonly number[];
  /** By column: the first row whose cell is merged with one above it. */
  readonly #below = new Map<number, number>();
  /** The columns whose names are merged over columns that have values too. */
  readonly #wide = new Set<number>();

  constructor(header: number, columns: readonly string[]) {
    this.#header = header;
    this.#columns = columns;
    this.#withoutName = [...columns.keys()].filter((column) => columns[column] === '');
  }

  /** Notes a row with a value. */
  addRow(number: number, cells: readonly unknown[]): void {
    this.#lastRow = number;
    if (number < MAX_ROWS) this.#rows[number >> 3]! |= 1 << (number & 7);
    for (const column of this.#withoutName) if (cells[column] != null) this.#nameless.add(column);
  }

  /** Takes a reference such as `B3:B9`. */
  addMerged(reference: string): void {
    const [, left, top, right, bottom] =
      /^([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})$/.exec(reference) ?? [];
    if (left === undefined || right === undefined) return;
    const [first, last] = [columnOf(left), Math.min(columnOf(right), this.#columns.length - 1)];
    const [start, end] = [Number(top), Number(bottom)];
    if (start <= this.#header && end >= this.#header) {
      for (let column = first + 1; column <= last; column += 1)
        if (this.#nameless.has(column)) this.#wide.add(first);
    }
    const merged = this.#secondRow(Math.max(start, this.#header + 1), end);
    if (merged === null) return;
    for (let column = first; column <= last; column += 1) {
      this.#below.set(column, Math.min(merged, this.#below.get(column) ?? merged));
    }
  }

  /** The first row whose cell in the column is merged with one above it; null where there is none. */
  rowMergedAbove(column: number): number | null {
    return this.#below.get(column) ?? null;
  }

  /** True where the column's name is merged over another column with values. */
  isWide(column: number): boolean {
    return this.#wide.has(column);
  }

  /** The second of the rows with a value. */
  #secondRow(start: number, end: number): number | null {
    let found = 0;
    for (let row = start; row <= Math.min(end, this.#lastRow); row += 1) {
      const hasValue = row >= MAX_ROWS || (this.#rows[row >> 3]! & (1 << (row & 7))) !== 0;
      if (hasValue) found += 1;
      if (found === 2) return row;
    }
    return null;
  }
}

/** The column that a reference such as `C7` begins with, from 0: `A` is column 0. */
export function columnOf(reference: string): number {
  let column = 0;
  for (let index = 0; index < reference.length; index++) {
    const letter = reference.charCodeAt(index) & ~0x20;
    if (letter < 65 || letter > 90) break;
    column = column * 26 + letter - 64;
  }
  return column - 1;
}
