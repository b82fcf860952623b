/** Reads CSV files: `,`, `;` or tab, quotes by RFC 4180. */
import { StringDecoder } from 'node:string_decoder';
import { BulkError, bulkErrorAt } from './bulk-error.ts';
import { CsvRecords } from './csv-records.ts';
import { ENOUGH_NAMES, findHeader, GUESSED_ROWS, type HeaderChoice } from './header.ts';
import { type Inspected, textOf } from './inspect.ts';
import { ROW_COLUMN } from './rejected-rows.ts';
import { type FileRow, isBlank, MAX_ROW_SIZE, type Table } from './table.ts';

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

/** Reads the rows up to the one with the columns' names. Throws `BulkError`. */
export async function openCsv(
  file: Inspected,
  choice: HeaderChoice,
): Promise<Table & { readonly delimiter: string }> {
  const dialect = guessDialect(await firstText(file), choice);
  const header = await findHeader(file.file, records(file, dialect), choice);
  if (header === null) throw new BulkError(`${file.file}: it holds nothing but empty lines`);
  const { number, columns, notes } = header;
  return {
    columns,
    headerRow: number,
    delimiter: dialect.delimiter,
    notes: [`columns are separated by ${DELIMITER_NAMES[dialect.delimiter]}`, ...notes],
    rows: () => dataRows(file, dialect, number, columns),
  };
}

async function* dataRows(
  file: Inspected,
  dialect: Dialect,
  header: number,
  columns: readonly string[],
): AsyncGenerator<readonly FileRow[]> {
  const width = columns.length;
  for await (const rows of records(file, dialect, columns)) {
    while (rows[0] !== undefined && rows[0].number <= header) rows.shift();
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

/**
 * Takes the separator that Excel's first line tells, else the one that shows the columns' names, else the one that
 * occurs most often outside quotes in the first line with any.
 */
function guessDialect(text: string, choice: HeaderChoice): Dialect {
  const told = SEPARATOR_LINE.exec(text)?.[1];
  if (told !== undefined && told in DELIMITER_NAMES) return { delimiter: told, skipLines: 1 };
  return { delimiter: delimiterOfHeader(text, choice) ?? delimiterOfFirstLine(text), skipLines: 0 };
}

/** The separator by which a row has enough known names, or by which the chosen row has the most cells. */
function delimiterOfHeader(text: string, { row, countKnown }: HeaderChoice): string | null {
  // A file of rejected rows has its header in the first row, whatever was chosen.
  const chosen = text.startsWith(ROW_COLUMN) ? null : row;
  let best: { readonly delimiter: string | null; readonly score: number } = {
    delimiter: null,
    score: chosen === null ? ENOUGH_NAMES - 1 : 1,
  };
  for (const delimiter of DELIMITERS) {
    const csv = new CsvRecords(delimiter, MAX_ROW_SIZE);
    const rows = [...csv.add(text), ...csv.end()];
    const score =
      chosen === null
        ? Math.max(0, ...rows.slice(0, GUESSED_ROWS).map(countKnown))
        : (rows[chosen - 1]?.length ?? 0);
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

function delimiterOfFirstLine(text: string): string {
  const counts = new Map<string, number>(DELIMITERS.map((delimiter) => [delimiter, 0]));
  let quoted = false;
  let isSeparated = false;
  for (const character of text) {
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '\n' || character === '\r') {
      if (isSeparated) break;
    } else {
      const count = counts.get(character);
      if (count === undefined) continue;
      counts.set(character, count + 1);
      isSeparated = true;
    }
  }
  const [[delimiter] = [','] as const] = [...counts].sort((a, b) => b[1] - a[1]);
  return delimiter;
}
