/** Refuses tables whose rows would be read with the wrong columns: merged cells, and a second table below the first. */
import { bulkErrorAt } from '../read/bulk-error.ts';
import { ENOUGH_NAMES, type HeaderChoice } from '../read/header.ts';
import type { Cell, FileRow, Table } from '../read/table.ts';
import { isRequired, type Mapping } from './columns.ts';
import { simplify } from './spellings.ts';

/**
 * Throws `BulkError` where merged cells hide a value of a row. A row without a required value is rejected anyway. The
 * other fields may be absent, so their row would be sent without the value.
 */
export function refuseMerged(file: string, { columns, headerRow, merged }: Table, { fields }: Mapping): void {
  if (merged === null) return;
  for (const { field, columns: read } of fields) {
    for (const column of read) {
      const name = columns[column] ?? '';
      if (merged.isWide(column)) {
        throw bulkErrorAt(file, headerRow, name, {
          en: 'the name is merged over several columns with values: give each column a name of its own',
          es: 'el nombre está combinado sobre varias columnas con valores: da a cada columna su propio nombre',
        });
      }
      const row = merged.rowMergedAbove(column);
      if (row === null || isRequired(field)) continue;
      throw bulkErrorAt(file, row, name, {
        en: 'the cell is merged with the one above: split them, and fill each one',
        es: 'la celda está combinada con la de encima: sepáralas y llena cada una',
      });
    }
  }
}

/**
 * A function that throws `BulkError` at a row which is the header of another table, with its columns in another order.
 */
export function secondTableRefuser(
  file: string,
  { columns, headerRow }: Table,
  { fields }: Mapping,
  countKnown: HeaderChoice['countKnown'],
): (row: FileRow) => void {
  const read = fields.flatMap((field) => field.columns);
  const amounts = fields.find(({ field }) => field.rule.kind === 'amount')?.columns[0] ?? 0;
  return ({ number, cells }) => {
    // Nearly every row of an applicant ends here.
    if (headerRow === null || beginsWithDigit(cells[amounts]) || cells.some(hasDigit)) return;
    const names = Array.from(cells, (cell) => (typeof cell === 'string' ? cell : ''));
    const isSame = (column: number) => simplify(names[column] ?? '') === simplify(columns[column] ?? '');
    if (countKnown(names) < ENOUGH_NAMES || read.every(isSame)) return;
    throw bulkErrorAt(file, number, null, {
      en: 'it has the names of columns again, in another order: put each table into a sheet or a file of its own',
      es: 'vuelve a tener nombres de columnas, en otro orden: pon cada tabla en una hoja o un archivo propio',
    });
  };
}

function beginsWithDigit(cell: Cell | undefined): boolean {
  if (typeof cell !== 'string') return typeof cell === 'number';
  const code = cell.charCodeAt(0);
  return code >= 0x30 && code <= 0x39;
}

function hasDigit(cell: Cell | undefined): boolean {
  return typeof cell === 'number' || (typeof cell === 'string' && /\d/.test(cell));
}
