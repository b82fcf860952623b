/** The form of a file of rejected rows: `send/rejected-file` writes it, and a corrected one is read like any table. */
import type { Cell, Table } from './table.ts';

/** The columns that such a file has before those of the table. */
export const ROW_COLUMN = 'rejected_row';
export const REASON_COLUMN = 'rejected_reason';
/** What spreadsheets take for a formula, and what looks as if such a file had neutralised it. */
const FORMULA = /^'*[=+\-@\t\r]/;
const NEUTRALISED = /^'+[=+\-@\t\r]/;

/** A cell's text, with an apostrophe before it where a spreadsheet would take it for a formula. */
export function neutralised(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** A table that is such a file gives its cells as they were before they were neutralised. */
export function withoutApostrophes(table: Table): Table {
  const { columns, notes } = table;
  if (!columns.includes(ROW_COLUMN) || !columns.includes(REASON_COLUMN)) return table;
  return {
    columns,
    notes: [
      ...notes,
      'it is a file of rejected rows: the apostrophe before =, +, - and @ is taken off its cells',
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
