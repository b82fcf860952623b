/** Reads a whole file of applicants without sending anything, and counts rows, converted cells and faults. */
import type { FieldName } from '../../applications/rules/fields.ts';
import { BulkError } from '../read/bulk-error.ts';
import type { FileRow } from '../read/table.ts';
import type { Change } from './cell-readers.ts';
import type { CellChange, CellFault, ConvertedRow } from './convert.ts';
import type { Source } from './source.ts';

/** Rows in the preview. */
const SAMPLE_ROWS = 5;

interface FaultCount {
  readonly text: string;
  count: number;
  readonly firstRow: number;
}

export interface Check {
  rows: number;
  /** Rows with a fault. */
  refused: number;
  /** By text, in the order of their first rows. */
  readonly faults: Map<string, FaultCount>;
  /** How many cells are converted. */
  readonly changes: Map<FieldName, Map<Change, number>>;
  /** The first cell that could be two numbers. */
  ambiguous: { readonly row: number; readonly column: string } | null;
  /** Rows that the spreadsheet does not show, and the first one. */
  hidden: { count: number; readonly firstRow: number } | null;
  /** The first rows that can be sent. */
  readonly sample: ConvertedRow[];
}

/** Finds the faults of an application, except in its refused cells, which have their own texts. */
export type Judge = (
  row: FileRow,
  application: Readonly<Record<string, unknown>>,
  refused: readonly CellFault[],
) => readonly string[];

interface CheckOptions {
  /** Adds the faults of its rules to those of the conversion. */
  readonly judge?: Judge;
  /** Called with each row, with a fault or without. */
  readonly onRow?: (row: ConvertedRow) => void;
  /** Called with each row that has a fault. */
  readonly onRefused?: (row: FileRow, reason: string) => Promise<void>;
  /** Called now and then with the number of rows so far. */
  readonly onProgress?: (rows: number) => void;
}

/** Throws `BulkError` where the file cannot be read or has no rows, and any error of the judge. */
export async function checkRows(source: Source, options: CheckOptions = {}): Promise<Check> {
  const { judge, onRow, onRefused, onProgress } = options;
  const check: Check = {
    rows: 0,
    refused: 0,
    faults: new Map(),
    changes: new Map(),
    ambiguous: null,
    hidden: null,
    sample: [],
  };
  for await (const rows of source.convertedRows()) {
    for (const converted of rows) {
      const { row, application, faults, changes } = converted;
      check.rows += 1;
      if (row.isHidden) countHidden(check, row);
      onRow?.(converted);
      for (const change of changes) countChange(check, change);
      noteAmbiguous(check, source, row, faults);
      const texts = row.fault === null ? faults.map(source.textOf) : [row.fault];
      if (judge !== undefined && row.fault === null) texts.push(...judge(row, application, faults));
      if (texts.length > 0) {
        check.refused += 1;
        for (const text of texts) countFault(check, text, row.number);
        await onRefused?.(row, texts.join('; '));
      } else if (check.sample.length < SAMPLE_ROWS) check.sample.push(converted);
    }
    onProgress?.(check.rows);
  }
  if (check.rows === 0) throw withoutRows(source);
  return check;
}

function withoutRows({
  file,
  table: { headerRow, elsewhere },
  settings: { visibleOnly },
}: Source): BulkError {
  const what =
    headerRow === null
      ? 'it holds no applicants'
      : `below the columns' names in row ${headerRow} it holds no applicants`;
  const hidden = visibleOnly === true ? ' that the sheet shows' : '';
  return new BulkError([`${file.file}: ${what}${hidden}`, elsewhere ?? []].flat().join('. '));
}

function countHidden(check: Check, { number }: FileRow): void {
  check.hidden ??= { count: 0, firstRow: number };
  check.hidden.count += 1;
}

function countChange({ changes }: Check, { field, change }: CellChange): void {
  const counts = changes.get(field) ?? new Map<Change, number>();
  changes.set(field, counts.set(change, (counts.get(change) ?? 0) + 1));
}

function countFault({ faults }: Check, text: string, row: number): void {
  const known = faults.get(text);
  if (known === undefined) faults.set(text, { text, count: 1, firstRow: row });
  else known.count += 1;
}

function noteAmbiguous(check: Check, source: Source, row: FileRow, faults: readonly CellFault[]): void {
  if (check.ambiguous !== null) return;
  const fault = faults.find(({ ambiguous }) => ambiguous);
  if (fault === undefined) return;
  check.ambiguous = { row: row.number, column: source.table.columns[fault.column] ?? '' };
}
