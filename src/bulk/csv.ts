/** CSV files: `,`, `;` or tab, quotes by RFC 4180. */
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { type Inspected, textOf } from './inspect.ts';
import { at, BulkError } from './problem.ts';
import { type Cell, isBlank, MAX_COLUMNS, MAX_ROW_BYTES, type Row, type Table } from './table.ts';

const DELIMITERS = [',', ';', '\t'] as const;
export const DELIMITER_NAMES: Readonly<Record<string, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
};
/** Excel writes it, and reads it again. */
const SEPARATOR_LINE = /^sep=(.)\r?\n/;

/** Reads the first row for the columns' names. Throws `BulkError`. */
export async function openCsv(file: Inspected): Promise<Table & { readonly delimiter: string }> {
  const { delimiter, skipLines } = guessDelimiter(await firstText(file));
  for await (const { cells, number } of records(file, delimiter, skipLines)) {
    const columns = cells.map((cell) => (cell as string).trim());
    if (columns.length > MAX_COLUMNS) {
      throw at(file.file, number, null, `more than ${MAX_COLUMNS} columns`);
    }
    return {
      columns,
      delimiter,
      notes: [`columns are separated by ${DELIMITER_NAMES[delimiter]}`],
      rows: () => dataRows(file, delimiter, skipLines, columns),
    };
  }
  throw new BulkError(`${file.file}: it holds nothing but empty lines`);
}

async function* dataRows(
  file: Inspected,
  delimiter: string,
  skipLines: number,
  columns: readonly string[],
): AsyncGenerator<Row> {
  const width = columns.length;
  let header = true;
  for await (const row of records(file, delimiter, skipLines, columns)) {
    if (header) {
      header = false;
      continue;
    }
    const { cells } = row;
    if (cells.length > width && !isBlank(cells.slice(width))) {
      yield { ...row, fault: `it has ${cells.length} cells, and there are ${width} columns` };
    } else {
      yield row;
    }
  }
}

/** The rows with a value, the header among them. */
async function* records(
  file: Inspected,
  delimiter: string,
  skipLines: number,
  columns: readonly string[] = [],
): AsyncGenerator<Row> {
  const parser = parse({
    delimiter,
    from_line: skipLines + 1,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: MAX_ROW_BYTES,
  });
  const source = Readable.from(textOf(file));
  source.on('error', (error) => parser.destroy(error));
  let number = skipLines;
  try {
    for await (const record of source.pipe(parser) as AsyncIterable<string[]>) {
      number += 1;
      const cells = record.map((text): Cell => (text === '' ? null : text));
      if (!isBlank(cells)) yield { number, cells, fault: null };
    }
  } catch (error) {
    // The library's own text quotes the value.
    if (error instanceof CsvError) throw located(file, error, skipLines, columns);
    throw error;
  } finally {
    source.destroy();
    parser.destroy();
  }
}

/** The library stops at the first row that it cannot read, and knows better than the loop how far it is. */
function located(file: Inspected, error: CsvError, skipLines: number, columns: readonly string[]): BulkError {
  const { records = 0, column } = error as { records?: number; column?: unknown };
  const name = typeof column === 'number' ? columns[column] || String(column + 1) : null;
  return at(file.file, skipLines + records + 1, name, textFor(error));
}

function textFor({ code, lines }: CsvError & { lines?: number }): string {
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'a quote is opened and never closed';
    case 'INVALID_OPENING_QUOTE':
    case 'CSV_INVALID_CLOSING_QUOTE':
      return `a quote stands inside a value (line ${lines ?? '?'}): put the value in quotes and write the quote twice`;
    case 'CSV_MAX_RECORD_SIZE':
      return `it is longer than ${MAX_ROW_BYTES} bytes: is a quote never closed?`;
    default:
      return `it cannot be read as CSV (${code})`;
  }
}

async function firstText(file: Inspected): Promise<string> {
  for await (const bytes of textOf(file)) if (bytes.length > 0) return bytes.toString();
  return '';
}

/** The separator that stands most often in the first line that is not empty, outside quotes. */
function guessDelimiter(text: string): { delimiter: string; skipLines: number } {
  const told = SEPARATOR_LINE.exec(text)?.[1];
  if (told !== undefined && told in DELIMITER_NAMES) return { delimiter: told, skipLines: 1 };
  const counts = new Map<string, number>(DELIMITERS.map((delimiter) => [delimiter, 0]));
  let quoted = false;
  for (const character of text.trimStart()) {
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '\n' || character === '\r') break;
    else if (counts.has(character)) counts.set(character, (counts.get(character) as number) + 1);
  }
  const [[delimiter] = [','] as const] = [...counts].sort((a, b) => b[1] - a[1]);
  return { delimiter, skipLines: 0 };
}
