/**
 * Converts rows to applications as the interface takes them. Only cells with one meaning are converted. Other cells are
 * sent as they are, for the service's rules to judge, or are refused here where the service would store a wrong value.
 */
import type { FieldName } from '../../applications/rules/fields.ts';
import { type FileRow, isEmpty } from '../read/table.ts';
import {
  AMBIGUOUS,
  type Change,
  Changed,
  type Conversion,
  readerOf,
  type Texts,
  UnconvertedCell,
} from './cell-readers.ts';
import type { Mapping } from './columns.ts';

/** The reason why a cell is refused. */
export interface CellFault {
  readonly field: FieldName;
  readonly column: number;
  readonly ambiguous: boolean;
  /** Never quotes the value. */
  readonly text: string;
}

/** A row with the application that it becomes. */
export interface ConvertedRow {
  readonly row: FileRow;
  /** Values by the documented names, without blank and refused cells. */
  readonly application: Readonly<Record<string, unknown>>;
  /** The refused cells. A row with one is not sent, nor is a row with a fault of its own. */
  readonly faults: readonly CellFault[];
  /** The converted cells. */
  readonly changes: readonly CellChange[];
}

export interface CellChange {
  readonly field: FieldName;
  readonly change: Change;
}

const NONE: readonly never[] = [];

/** A function that converts the rows of one file. */
export function converter(
  { fields }: Mapping,
  conversion: Conversion,
  texts: Texts,
): (row: FileRow) => ConvertedRow {
  const readers = fields.map(({ field, columns }) => {
    return { field: field.name, columns, read: readerOf(field.name, field.rule, conversion, texts) };
  });
  return (row) => {
    const application: Record<string, unknown> = {};
    if (row.fault !== null) return { row, application, faults: NONE, changes: NONE };
    let faults: CellFault[] | undefined;
    let changes: CellChange[] | undefined;
    for (const { field, columns, read } of readers) {
      const column = columns.find((one) => !isEmpty(row.cells[one]));
      if (column === undefined) continue;
      const value = read(row.cells[column] ?? null);
      if (value instanceof UnconvertedCell) {
        faults ??= [];
        faults.push({ field, column, ambiguous: value.text === AMBIGUOUS, text: value.text });
      } else if (value instanceof Changed) {
        changes ??= [];
        changes.push({ field, change: value.change });
        application[field] = value.value;
      } else {
        application[field] = value;
      }
    }
    return { row, application, faults: faults ?? NONE, changes: changes ?? NONE };
  };
}
