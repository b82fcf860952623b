/** Reads CSV files: `,`, `;` or tab, quotes by RFC 4180. */
import { StringDecoder } from 'node:string_decoder';
import { BulkError, bulkErrorAt } from './bulk-error.ts';
import { CsvRecords } from './csv-records.ts';
import { type Inspected, textOf } from './inspect.ts';
import { type FileRow, isBlank, MAX_COLUMNS, MAX_ROW_SIZE, type Table } from './table.ts';

const DELIMITERS = [',', ';', '\t'] as const;
const DELIMITER_NAMES: Readonly<Record<string, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
};
/** A first line with the separator, as Excel writes it. */
const SEPARATOR_LINE = /^sep=(.)\r?\n/;

interface Dialect {
  readonly delimiter: string;
  /** Lines before the header. */
  readonly skipLines: number;
}

/** Reads the first row for the columns' names. Throws `BulkError`. */
export async function openCsv(file: Inspected): Promise<Table & { readonly delimiter: string }> {
  const dialect = guessDialect(await firstText(file));
  for await (const rows of records(file, dialect)) {
    const [header] = rows;
    if (header === undefined) continue;
    const columns = header.cells.map((cell) => String(cell).trim());
    if (columns.length > MAX_COLUMNS) {
      throw bulkErrorAt(file.file, header.number, null, `more than ${MAX_COLUMNS} columns`);
    }
    return {
      columns,
      delimiter: dialect.delimiter,
      notes: [`columns are separated by ${DELIMITER_NAMES[dialect.delimiter]}`],
      rows: () => dataRows(file, dialect, columns),
    };
  }
  throw new BulkError(`${file.file}: it holds nothing but empty lines`);
}

async function* dataRows(
  file: Inspected,
  dialect: Dialect,
  columns: readonly string[],
): AsyncGenerator<readonly FileRow[]> {
  const width = columns.length;
  let header = true;
  for await (const rows of records(file, dialect, columns)) {
    if (header && rows.length > 0) {
      header = false;
      rows.shift();
    }
    yield rows.map((row) => {
      const { cells } = row;
      if (cells.length <= width || isBlank(cells.slice(width))) return row;
      return { ...row, fault: `it has ${cells.length} cells, and there are ${width} columns` };
    });
  }
}

/** The rows with a value, including the header. */
async function* records(
  file: Inspected,
  { delimiter, skipLines }: Dialect,
  columns: readonly string[] = [],
): AsyncGenerator<FileRow[]> {
  const csv = new CsvRecords(delimiter, MAX_ROW_SIZE, skipLines);
  const decoder = new StringDecoder('utf8');
  let number = skipLines;
  const rowsOf = (found: readonly string[][]): FileRow[] => {
    const rows: FileRow[] = [];
    for (const cells of found) {
      number += 1;
      if (!isBlank(cells)) rows.push({ number, cells, fault: null });
    }
    return rows;
  };
  let linesToSkip = skipLines;
  for await (const bytes of textOf(file)) {
    const text = decoder.write(bytes);
    yield rowsOf(csv.add(linesToSkip > 0 ? text.replace(SEPARATOR_LINE, '') : text));
    linesToSkip = 0;
    if (csv.fault !== null) break;
  }
  yield rowsOf(csv.end());
  if (csv.fault === null) return;
  const { record, cell, message } = csv.fault;
  const name = cell === null ? null : columns[cell] || String(cell + 1);
  throw bulkErrorAt(file.file, skipLines + record, name, message);
}

async function firstText(file: Inspected): Promise<string> {
  for await (const bytes of textOf(file)) if (bytes.length > 0) return bytes.toString();
  return '';
}

/** Takes the separator that occurs most often outside quotes in the first line that is not empty. */
function guessDialect(text: string): Dialect {
  const told = SEPARATOR_LINE.exec(text)?.[1];
  if (told !== undefined && told in DELIMITER_NAMES) return { delimiter: told, skipLines: 1 };
  const counts = new Map<string, number>(DELIMITERS.map((delimiter) => [delimiter, 0]));
  let quoted = false;
  for (const character of text.trimStart()) {
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '\n' || character === '\r') break;
    else {
      const count = counts.get(character);
      if (count !== undefined) counts.set(character, count + 1);
    }
  }
  const [[delimiter] = [','] as const] = [...counts].sort((a, b) => b[1] - a[1]);
  return { delimiter, skipLines: 0 };
}
