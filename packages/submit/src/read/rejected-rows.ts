/**
 * The form of a file of rejected rows. `send/rejected-file` writes such files; a corrected one is read like any table.
 */
import type { Cell, Table } from './table.ts';

/** Such a file has these columns before those of the table. */
export const ROW_COLUMN = 'rejected_row';
export const REASON_COLUMN = 'rejected_reason';
/** Texts that spreadsheets take for a formula, and texts that already have the apostrophe. */
const FORMULA = /^'*[=+\-@\t\r]/;
const NEUTRALISED = /^'+[=+\-@\t\r]/;

/** A cell's text, with an apostrophe in front where a spreadsheet would take the text for a formula. */
export function neutralised(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** True for the columns of a file of rejected rows. */
export function isRejectedHeader(columns: readonly string[]): boolean {
  return columns.includes(ROW_COLUMN) && columns.includes(REASON_COLUMN);
}

/** The table without the apostrophes, where it is a file of rejected rows; any other table as it is. */
export function withoutApostrophes(table: Table): Table {
  const { columns, notes } = table;
  if (!isRejectedHeader(columns)) return table;
  return {
    ...table,
    notes: [
      ...notes,
      {
        en: 'it is a file of rejected rows: the apostrophe before =, +, - and @ is taken off its cells',
        es: 'es un archivo de filas rechazadas: a sus celdas se les quita el apóstrofo antes de =, +, - y @',
        pt: 'é um arquivo de linhas recusadas: o apóstrofo antes de =, +, - e @ é retirado das células',
      },
    ],
    async *rows() {
      for await (const rows of table.rows())
        yield rows.map((row) => ({ ...row, cells: row.cells.map(original) }));
    },
  };
}

function original(cell: Cell): Cell {
  return typeof cell === 'string' && NEUTRALISED.test(cell) ? cell.slice(1) : cell;
}
