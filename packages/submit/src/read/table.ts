/** A file of applicants as a table, in any format. */

import type { NamedCurrency } from './currency-words.ts';
import type { FileWords } from './file-words.ts';
import type { MergedCells } from './xlsx/merged-cells.ts';

/** What a spreadsheet's cell can hold in the place of a value, and what is said of it. */
export const UNUSABLE = {
  date: { en: 'it is a date', es: 'es una fecha', pt: 'é uma data' },
  percentage: { en: 'it is a percentage', es: 'es un porcentaje', pt: 'é uma porcentagem' },
  no_result: {
    en: 'it is a formula without a value',
    es: 'es una fórmula sin resultado',
    pt: 'é uma fórmula sem resultado',
  },
  error: { en: 'it is a formula error', es: 'es un error de fórmula', pt: 'é um erro de fórmula' },
  other_form: {
    en: 'it is a number that its format shows in another form',
    es: 'es un número que su formato muestra de otra forma',
    pt: 'é um número que o formato mostra de outra forma',
  },
} as const satisfies Record<string, FileWords>;

/** A spreadsheet's cell that holds no applicant's value, such as a date, or does not show the value that it holds. */
export class Unusable {
  readonly what: keyof typeof UNUSABLE;
  /** The text for the file of rejected rows. */
  readonly text: string;
  constructor(what: Unusable['what'], text: string) {
    this.what = what;
    this.text = text;
  }
}

/** A number of a spreadsheet that the cell shows as another text, or with the name of a currency. */
export class ShownNumber {
  readonly value: number;
  readonly text: string;
  /** True where the text is the same number, such as one with leading zeros. */
  readonly isSame: boolean;
  /** The currency that the format names; `text` is without it. */
  readonly currency: NamedCurrency | null;
  constructor(value: number, text: string, isSame: boolean, currency: NamedCurrency | null = null) {
    this.value = value;
    this.text = text;
    this.isSame = isSame;
    this.currency = currency;
  }

  toString(): string {
    return this.text;
  }
}

/**
 * null is an empty or absent cell; a blank text counts as empty too. Other objects
 * are nested JSON.
 */
export type Cell = string | number | boolean | null | Unusable | ShownNumber | object;

export interface FileRow {
  /** Counts as a spreadsheet or an editor does: row 1 is the first line, or the first element of a JSON array. */
  readonly number: number;
  /** In the order of the table's columns; may be fewer. */
  readonly cells: readonly Cell[];
  /** The reason why the row as a whole cannot be read; else null. */
  readonly fault: FileWords | null;
  /** True for a row that the spreadsheet does not show: by a filter, or hidden by hand. */
  readonly isHidden?: true;
}

export interface Table {
  /** The names in the file's order; empty for a column without a name. */
  readonly columns: readonly string[];
  /** The number of the row with the names; null in a format without such a row. */
  readonly headerRow: number | null;
  /** Notes for people on how the file is read. */
  readonly notes: readonly FileWords[];
  /** The name of the sheet that is read; null in a format without sheets. */
  readonly sheet: string | null;
  /** A sentence on the file's other sheets, for errors; null where there are none. */
  readonly elsewhere: FileWords | null;
  /** The merged cells, known when all rows are read; null in a format without them. */
  readonly merged: MergedCells | null;
  /**
   * Reads the file from its beginning, in bounded memory. Yields the rows of one piece of the file at a time, possibly
   * none. Leaves out rows without a value. Throws `BulkError`.
   */
  rows(): AsyncIterable<readonly FileRow[]>;
}

/** What a format without sheets has of them. */
export const NO_SHEETS = { sheet: null, elsewhere: null, merged: null } as const;

/** No list of applicants has more columns. */
export const MAX_COLUMNS = 1_000;
export const TOO_MANY_COLUMNS: FileWords = {
  en: `it has more than ${MAX_COLUMNS} columns`,
  es: `tiene más de ${MAX_COLUMNS} columnas`,
  pt: `tem mais de ${MAX_COLUMNS} colunas`,
};
/** The largest row: in bytes of JSON, in characters of CSV and XLSX. */
export const MAX_ROW_SIZE = 1024 * 1024;

/** True for a cell without a value. */
export function isEmpty(cell: Cell | undefined): boolean {
  return cell === null || cell === undefined || (typeof cell === 'string' && cell.trim() === '');
}

/** True where no cell has a value. */
export function isBlank(cells: readonly Cell[]): boolean {
  for (const cell of cells) if (!isEmpty(cell)) return false;
  return true;
}
