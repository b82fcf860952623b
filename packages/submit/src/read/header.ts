/** Finds the row with the columns' names. A title may stand above the row. */

import { bulkErrorAt } from './bulk-error.ts';
import type { FileWords } from './file-words.ts';
import { isRejectedHeader } from './rejected-rows.ts';
import { type Cell, type FileRow, MAX_COLUMNS, TOO_MANY_COLUMNS, Unusable } from './table.ts';

export interface HeaderChoice {
  /** The number of the row; null where the row is guessed. */
  readonly row: number | null;
  /** Says how many of the names belong to a field. */
  readonly countKnown: (names: readonly string[]) => number;
}

/** The guess looks at no later row. */
export const GUESSED_ROWS = 20;
/** A row with so many known names is a header: no title and no applicant has them. */
export const ENOUGH_NAMES = 5;

export interface Header {
  readonly number: number;
  readonly columns: readonly string[];
  /** A note for people where rows above the header are left out. */
  readonly notes: readonly FileWords[];
}

/**
 * The header among the rows with a value: the chosen row, else the first row with enough known names, else the first
 * row. null where there are no rows. Throws `BulkError` where the chosen row has no value.
 */
export async function findHeader(
  file: string,
  pieces: AsyncIterable<readonly FileRow[]>,
  { row, countKnown }: HeaderChoice,
): Promise<Header | null> {
  let first: FileRow | null = null;
  for await (const rows of pieces) {
    for (const one of rows) {
      const names = Array.from(one.cells, nameOf);
      first ??= one;
      // Such a file is submitted with the options of the original file, but its header is always the first row.
      if (one === first && isRejectedHeader(names)) return headerOf(file, first, one);
      if (row === null) {
        if (countKnown(names) >= ENOUGH_NAMES) return headerOf(file, first, one);
        if (one.number > GUESSED_ROWS) return headerOf(file, first, first);
      } else if (one.number === row) return headerOf(file, first, one);
      else if (one.number > row) throw absent(file, row);
    }
  }
  if (first === null) return null;
  if (row !== null) throw absent(file, row);
  return headerOf(file, first, first);
}

function headerOf(file: string, first: FileRow, { number, cells }: FileRow): Header {
  if (cells.length > MAX_COLUMNS) throw bulkErrorAt(file, number, null, TOO_MANY_COLUMNS);
  const notes = first.number === number ? [] : [titlesNote(number)];
  return { number, columns: Array.from(cells, nameOf), notes };
}

/** Says that rows above the header are left out. */
export function titlesNote(header: number): FileWords {
  return {
    en: `row ${header} has the columns' names: the rows above it are not sent`,
    es: `la fila ${header} tiene los nombres de las columnas: las filas de encima no se envían`,
    pt: `a linha ${header} tem os nomes das colunas: as linhas acima não são enviadas`,
  };
}

function nameOf(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return '';
  return cell instanceof Unusable ? cell.text : String(cell).trim();
}

function absent(file: string, row: number): Error {
  return bulkErrorAt(file, row, null, {
    en: '--header-row names this row, and it is empty or absent',
    es: '--header-row indica esta fila, y está vacía o no existe',
    pt: '--header-row indica esta linha, e ela está vazia ou não existe',
  });
}
