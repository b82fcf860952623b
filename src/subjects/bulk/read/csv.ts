/** Reads CSV files: `,`, `;` or tab, quotes by RFC 4180. */

import { StringDecoder } from 'node:string_decoder';
import { counted } from '../../../ground/base/counted.ts';
import type { Words } from '../../../ground/base/language.ts';
import { bulkErrorAt } from './bulk-error.ts';
import { type Dialect, dialectOf } from './csv-dialect.ts';
import { CsvRecords } from './csv-records.ts';
import { findHeader, type HeaderChoice, titlesNote } from './header.ts';
import { type Inspected, onlyEmptyLines, textOf } from './inspect.ts';
import { type FileRow, isBlank, isEmpty, MAX_ROW_SIZE, NO_SHEETS, type Table } from './table.ts';

const SEPARATED_BY: Readonly<Record<string, Words>> = {
  ',': { en: 'columns are separated by comma', es: 'las columnas están separadas por coma' },
  ';': { en: 'columns are separated by semicolon', es: 'las columnas están separadas por punto y coma' },
  '\t': { en: 'columns are separated by tab', es: 'las columnas están separadas por tabulador' },
};

/** Reads the rows up to the one with the columns' names. Throws `BulkError`. */
export async function openCsv(
  file: Inspected,
  choice: HeaderChoice,
): Promise<Table & { readonly delimiter: string }> {
  const dialect = dialectOf(await firstText(file), choice);
  const header = await findHeader(file.file, records(file, dialect), choice);
  if (header === null) throw onlyEmptyLines(file.file);
  const { number, columns } = header;
  const notes = dialect.hasTitles ? [titlesNote(number)] : header.notes;
  return {
    columns,
    headerRow: number,
    ...NO_SHEETS,
    delimiter: dialect.delimiter,
    notes: [SEPARATED_BY[dialect.delimiter]!, ...notes],
    rows: () => dataRows(file, dialect, number, columns),
  };
}

async function* dataRows(
  file: Inspected,
  dialect: Dialect,
  header: number,
  columns: readonly string[],
): AsyncGenerator<readonly FileRow[]> {
  // A value below no name may be one that an unquoted separator moved to the right.
  const width = columns.findLastIndex((name) => name !== '') + 1;
  for await (const rows of records(file, dialect, columns)) {
    while (rows[0] !== undefined && rows[0].number <= header) rows.shift();
    yield rows.map((row) => {
      const { cells } = row;
      if (cells.length <= width || isBlank(cells.slice(width))) return row;
      const last = cells.findLastIndex((cell) => !isEmpty(cell)) + 1;
      return {
        ...row,
        fault: {
          en: `it has ${counted(last, 'cell')}, and there ${width === 1 ? 'is' : 'are'} ${counted(width, 'column')}`,
          es: `tiene ${counted(last, 'celda')}, y hay ${counted(width, 'columna')}`,
        },
      };
    });
  }
}

/** The rows with a value, including the header. */
async function* records(
  file: Inspected,
  { delimiter, skipped }: Dialect,
  columns: readonly string[] = [],
): AsyncGenerator<FileRow[]> {
  const csv = new CsvRecords(delimiter, MAX_ROW_SIZE, skipped.lines);
  const decoder = new StringDecoder('utf8');
  let number = skipped.lines;
  const rowsOf = (found: readonly string[][]): FileRow[] => {
    const rows: FileRow[] = [];
    for (const cells of found) {
      number += 1;
      if (!isBlank(cells)) rows.push({ number, cells, fault: null });
    }
    return rows;
  };
  let charactersToSkip = skipped.characters;
  for await (const bytes of textOf(file)) {
    const text = decoder.write(bytes);
    yield rowsOf(csv.add(text.slice(charactersToSkip)));
    if (text !== '') charactersToSkip = 0;
    if (csv.fault !== null) break;
  }
  yield rowsOf(csv.end());
  if (csv.fault === null) return;
  const { record, cell, words } = csv.fault;
  const name = cell === null ? null : columns[cell] || String(cell + 1);
  throw bulkErrorAt(file.file, skipped.lines + record, name, words);
}

async function firstText(file: Inspected): Promise<string> {
  for await (const bytes of textOf(file)) if (bytes.length > 0) return bytes.toString();
  return '';
}
