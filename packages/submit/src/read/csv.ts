/** Reads CSV files: `,`, `;` or tab, quotes by RFC 4180. */
import { StringDecoder } from 'node:string_decoder';
import { counted } from '../../../../src/ground/base/counted.ts';
import type { Words } from '../../../../src/ground/base/language.ts';
import { bulkErrorAt } from './bulk-error.ts';
import { CsvRecords } from './csv-records.ts';
import { ENOUGH_NAMES, findHeader, GUESSED_ROWS, type HeaderChoice, titlesNote } from './header.ts';
import { type Inspected, onlyEmptyLines, textOf } from './inspect.ts';
import { ROW_COLUMN } from './rejected-rows.ts';
import { type FileRow, isBlank, isEmpty, MAX_ROW_SIZE, NO_SHEETS, type Table } from './table.ts';

// Guesses how a CSV file is written, from the first piece of its text.

/** How a file is written. */
interface Dialect {
  readonly delimiter: string;
  /** What the first piece begins with and is no CSV: the line `sep=;` of Excel, or titles with bare quotes. */
  readonly skipped: { readonly lines: number; readonly characters: number };
  /** True where the skipped lines are titles. */
  readonly hasTitles: boolean;
}

const DELIMITERS = [',', ';', '\t'] as const;
/** A first line with the separator, as Excel writes it, or as another program saves that line. */
const SEPARATOR_LINE = /^"?sep=([,;\t])"?[,;\t]*(?:\r\n|\r|\n)/i;
const LINE_BREAKS = /\r\n|\r|\n/g;
const NOTHING = { lines: 0, characters: 0 };

/**
 * Takes the separator that Excel's first line tells, else the one that shows the columns' names, else the one that
 * occurs most often outside quotes in the first line with any.
 */
function dialectOf(text: string, choice: HeaderChoice): Dialect {
  const [line, told] = SEPARATOR_LINE.exec(text) ?? [];
  if (line !== undefined && told !== undefined) {
    return { delimiter: told, skipped: { lines: 1, characters: line.length }, hasTitles: false };
  }
  // A file of rejected rows has its header in the first row, whatever was chosen.
  const row = text.startsWith(ROW_COLUMN) ? null : choice.row;
  const readable = DELIMITERS.filter((delimiter) => isReadable(text, delimiter));
  const shown = row === null ? delimiterOfNames(text, choice) : delimiterOfRow(row, text, readable);
  if (shown !== null) return { delimiter: shown, skipped: NOTHING, hasTitles: false };
  const below = row === null || readable.length === 0 ? belowTitles(text, row, choice) : null;
  if (below !== null) return below;
  const delimiter = delimiterOfFirstLine(text, readable.length > 0 ? readable : DELIMITERS);
  return { delimiter, skipped: NOTHING, hasTitles: false };
}

/** The separator by which a row has the most known names; null where none has enough. */
function delimiterOfNames(text: string, { countKnown }: HeaderChoice): string | null {
  const known = (delimiter: string) =>
    Math.max(0, ...recordsOf(text, delimiter).slice(0, GUESSED_ROWS).map(countKnown));
  return best(DELIMITERS, known, ENOUGH_NAMES);
}

/** The separator by which the chosen row has the most cells; null where none makes two. */
function delimiterOfRow(row: number, text: string, possible: readonly string[]): string | null {
  return best(possible, (delimiter) => recordsOf(text, delimiter)[row - 1]?.length ?? 0, 2);
}

/**
 * The dialect of the rows below titles that are no CSV, such as `Report of "Rutas SA"`. The header is then a line that
 * is read by itself: the chosen one, else the first with enough known names.
 */
function belowTitles(text: string, row: number | null, { countKnown }: HeaderChoice): Dialect | null {
  const starts = [...text.matchAll(LINE_BREAKS)].map(({ 0: end, index }) => index + end.length);
  for (const [index, characters] of starts.slice(0, GUESSED_ROWS).entries()) {
    const skipped = { lines: index + 1, characters };
    if (row !== null && row !== skipped.lines + 1) continue;
    const [header = ''] = text.slice(characters).split(LINE_BREAKS, 1);
    const cells = (delimiter: string) => recordsOf(header, delimiter)[0] ?? [];
    const delimiter =
      row === null
        ? best(DELIMITERS, (one) => countKnown(cells(one)), ENOUGH_NAMES)
        : best(DELIMITERS, (one) => cells(one).length, 2);
    if (delimiter !== null) return { delimiter, skipped, hasTitles: true };
  }
  return null;
}

/** The separator with the highest score; null where no score reaches `least`. */
function best(
  delimiters: readonly string[],
  scoreOf: (delimiter: string) => number,
  least: number,
): string | null {
  const scores = delimiters.map((delimiter) => ({ delimiter, score: scoreOf(delimiter) }));
  const [first] = scores.sort((a, b) => b.score - a.score);
  return first !== undefined && first.score >= least ? first.delimiter : null;
}

function delimiterOfFirstLine(text: string, possible: readonly string[]): string {
  const counts = new Map<string, number>(possible.map((delimiter) => [delimiter, 0]));
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

function recordsOf(text: string, delimiter: string): string[][] {
  const csv = new CsvRecords(delimiter, MAX_ROW_SIZE);
  return [...csv.add(text), ...csv.end()];
}

/** True where the text has no fault by this separator. The text may end within a record. */
function isReadable(text: string, delimiter: string): boolean {
  const csv = new CsvRecords(delimiter, MAX_ROW_SIZE);
  csv.add(text);
  return csv.fault === null;
}

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
