/** Makes the file of a view, some rows at a time: the service gives what the view and its filters match. */
import type { FileRowsReply, ViewItemReply } from '../../../../src/subjects/desk/routes/view-forms.ts';
import type { Cell, FileWriter } from './cell.ts';
import { csvFile } from './csv.ts';
import { xlsxFile } from './xlsx.ts';

export const FORMATS = ['xlsx', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

/** The columns in their order, by the names of their texts. */
export const COLUMNS = [
  'number',
  'partner',
  'status',
  'score',
  'currency',
  'amount',
  'at',
  'created',
  'proposed',
] as const;

/** The cells of a row. Codes stay codes, so a file reads the same in every language. */
function cellsOf(item: ViewItemReply): Cell[] {
  const {
    id,
    partner,
    status,
    score,
    currency,
    debt_amount: amount,
    at,
    created_at: created,
    proposed,
  } = item;
  return [id, partner.name, status, score, currency, amount, new Date(at), new Date(created), proposed];
}

/** What the next rows are asked for with. */
export interface RowsPlace {
  readonly cursor?: string;
  readonly rows?: number;
}

interface Making {
  readonly format: Format;
  readonly title: string;
  readonly head: readonly string[];
  readonly ask: (place: RowsPlace) => Promise<FileRowsReply>;
  /** Called with the number of rows so far. False: the file is not wanted any more. */
  readonly onRows: (rows: number) => boolean;
}

/** The file; null: it was given up. */
export async function makeFile({
  format,
  title,
  head,
  ask,
  onRows,
}: Making): Promise<{ readonly file: Blob; readonly rows: number; readonly isCut: boolean } | null> {
  const writer: FileWriter = format === 'csv' ? csvFile(head) : xlsxFile(title, head);
  for (let place: RowsPlace = {}; ; ) {
    const { applications, rows, next, is_cut: isCut } = await ask(place);
    if (!onRows(rows)) return null;
    writer.add(applications.map(cellsOf));
    if (next === null) return { file: writer.end(), rows, isCut };
    place = { cursor: next, rows };
  }
}
