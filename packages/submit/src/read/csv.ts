/** Reads CSV files: `,`, `;` or tab, quotes by RFC 4180. */
import { counted } from '../../../../src/ground/base/counted.ts';
import { bulkErrorAt, Fault } from './bulk-error.ts';
import { textOfUtf8, Utf8Text } from './bytes.ts';
import type { FileWords } from './file-words.ts';
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

const SEPARATED_BY: Readonly<Record<string, FileWords>> = {
  ',': {
    en: 'columns are separated by comma',
    es: 'las columnas están separadas por coma',
    pt: 'as colunas estão separadas por vírgula',
  },
  ';': {
    en: 'columns are separated by semicolon',
    es: 'las columnas están separadas por punto y coma',
    pt: 'as colunas estão separadas por ponto e vírgula',
  },
  '\t': {
    en: 'columns are separated by tab',
    es: 'las columnas están separadas por tabulador',
    pt: 'as colunas estão separadas por tabulação',
  },
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
          pt: `tem ${counted(last, 'célula')}, e há ${counted(width, 'coluna')}`,
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
  const decoder = new Utf8Text();
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
    const text = decoder.add(bytes);
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
  for await (const bytes of textOf(file)) if (bytes.length > 0) return textOfUtf8(bytes);
  return '';
}

// Cuts CSV text (RFC 4180) into records, in whatever pieces the text comes. The platform's own split cuts lines without
// quotes, and only a record with quotes is read cell by cell. csv-parse takes three times the CPU, and has no way to
// take `="0012"` and to refuse damaged quotes; the tests compare the two.

/** Says why the text is no CSV, and where. Quotes nothing of the text. */
class CsvFault extends Fault {
  /** Number of the record, from 1. */
  readonly record: number;
  /** Index of the cell, from 0; null for the record as a whole. */
  readonly cell: number | null;

  constructor(words: FileWords, record: number, cell: number | null) {
    super(words);
    this.record = record;
    this.cell = cell;
  }
}

const NEVER_CLOSED: FileWords = {
  en: 'a quote is opened and never closed',
  es: 'se abre una comilla y no se cierra',
  pt: 'uma aspa se abre e não se fecha',
};
const BREAK = /\r\n|[\r\n]/;
const BREAKS = /\r\n|[\r\n]/g;

/** A record with quotes, and where the next one begins; null where the text ends before the record does. */
type Quoted = { readonly cells: string[]; readonly next: number } | null;

export class CsvRecords {
  readonly #delimiter: string;
  readonly #maxCharacters: number;
  /** The text from the first record on that is not whole yet. */
  #text = '';
  /** The text is read again at this length, so that a long record in many pieces is read a few times only. */
  #readAt = 0;
  #records = 0;
  #lines: number;
  #fault: CsvFault | null = null;

  /** `linesBefore` matters only for the line numbers in the texts of faults. */
  constructor(delimiter: string, maxCharacters: number, linesBefore = 0) {
    this.#delimiter = delimiter;
    this.#maxCharacters = maxCharacters;
    this.#lines = linesBefore;
  }

  /** The fault that ended the reading; null while there is none. After a fault no records come. */
  get fault(): CsvFault | null {
    return this.#fault;
  }

  /** The records that became whole, empty lines included. */
  add(piece: string): string[][] {
    this.#text += piece;
    return this.#text.length < this.#readAt ? [] : this.#take(false);
  }

  /** The last records; the last one needs no line break. */
  end(): string[][] {
    return this.#take(true);
  }

  #take(isLast: boolean): string[][] {
    const records: string[][] = [];
    if (this.#fault !== null) return records;
    try {
      this.#takeInto(records, isLast);
    } catch (error) {
      if (!(error instanceof CsvFault)) throw error;
      this.#fault = error;
    }
    return records;
  }

  #takeInto(records: string[][], isLast: boolean): void {
    const text = this.#text;
    let start = 0;
    while (start < text.length) {
      const quote = text.indexOf('"', start);
      const end = quote === -1 ? endOfLines(text, start, isLast) : startOfLine(text, start, quote);
      this.#takeLines(text.slice(start, end), records);
      start = end;
      if (quote === -1) break;
      const quoted = this.#quoted(text, start, isLast);
      if (quoted === null) break;
      this.#lines += breaksIn(text.slice(start, quoted.next));
      this.#push(quoted.cells, quoted.next - start, records);
      start = quoted.next;
    }
    this.#text = text.slice(start);
    if (this.#text.length > this.#maxCharacters) throw this.#tooLong();
    this.#readAt = Math.min(2 * this.#text.length, this.#maxCharacters);
  }

  /** Takes whole lines without quotes. */
  #takeLines(text: string, records: string[][]): void {
    if (text === '') return;
    const lines = text.split(text.includes('\r') ? BREAK : '\n');
    if (lines.at(-1) === '') lines.pop();
    for (const line of lines) {
      this.#lines += 1;
      this.#push(line.split(this.#delimiter), line.length, records);
    }
  }

  #push(cells: string[], characters: number, records: string[][]): void {
    if (characters > this.#maxCharacters) throw this.#tooLong();
    this.#records += 1;
    records.push(cells);
  }

  #quoted(text: string, start: number, isLast: boolean): Quoted {
    const cells: string[] = [];
    for (let at = start; ; at += 1) {
      if (text[at] === '"') {
        const close = closingQuote(text, at);
        if (close === -1 && isLast) throw this.#faultIn(cells, NEVER_CLOSED);
        if (close === -1 || (close + 1 === text.length && !isLast)) return null;
        if (!this.#endsCell(text[close + 1])) throw this.#stray(text, start, close, cells);
        cells.push(text.slice(at + 1, close).replaceAll('""', '"'));
        at = close + 1;
      } else {
        const end = text[at] === '=' ? this.#endOfFormula(text, at, isLast) : this.#endOfPlainCell(text, at);
        if (text[end] === '"') throw this.#stray(text, start, end, cells);
        cells.push(text.slice(at, end));
        at = end;
      }
      if (text[at] === this.#delimiter) continue;
      return isLast || isWhole(text, at) ? { cells, next: afterLineBreak(text, at) } : null;
    }
  }

  /** The end of a cell that begins without a quote, or its first quote. */
  #endOfPlainCell(text: string, start: number): number {
    let end = start;
    while (!this.#endsCell(text[end]) && text[end] !== '"') end += 1;
    return end;
  }

  /**
   * The end of a cell such as `="0012"`, whose own quotes belong to its text, as spreadsheets read it; or its first
   * quote that is not closed in the same line.
   */
  #endOfFormula(text: string, start: number, isLast: boolean): number {
    let open = -1;
    for (let end = start; ; end += 1) {
      const sign = text[end];
      if (sign === '"') open = open < 0 ? end : -1;
      else if (open < 0 && this.#endsCell(sign)) return end;
      else if (sign === '\n' || sign === '\r' || (sign === undefined && isLast)) return open;
      else if (sign === undefined) return end;
    }
  }

  #endsCell(follows: string | undefined): boolean {
    return follows === undefined || follows === this.#delimiter || follows === '\n' || follows === '\r';
  }

  #stray(text: string, start: number, at: number, cells: readonly string[]): CsvFault {
    const line = this.#lines + 1 + breaksIn(text.slice(start, at));
    return this.#faultIn(cells, {
      en: `a quote stands inside a value (line ${line}): put the value in quotes and write the quote twice`,
      es: `hay una comilla dentro de un valor (línea ${line}): pon el valor entre comillas y escribe la comilla dos veces`,
      pt: `há uma aspa dentro de um valor (linha ${line}): ponha o valor entre aspas e escreva a aspa duas vezes`,
    });
  }

  #faultIn(cells: readonly string[], what: FileWords): CsvFault {
    return new CsvFault(what, this.#records + 1, cells.length);
  }

  #tooLong(): CsvFault {
    const what = {
      en: `it is longer than ${this.#maxCharacters} characters: is a quote never closed?`,
      es: `tiene más de ${this.#maxCharacters} caracteres: ¿falta cerrar una comilla?`,
      pt: `tem mais de ${this.#maxCharacters} caracteres: falta fechar uma aspa?`,
    };
    return new CsvFault(what, this.#records + 1, null);
  }
}

/** The end of the last whole line; with `isLast`, the end of the text. */
function endOfLines(text: string, start: number, isLast: boolean): number {
  if (isLast) return text.length;
  const rest = text.slice(start);
  // A carriage return at the very end may be half of a line break.
  return start + Math.max(rest.lastIndexOf('\n'), rest.slice(0, -1).lastIndexOf('\r')) + 1;
}

function startOfLine(text: string, start: number, end: number): number {
  const before = text.slice(start, end);
  return start + Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1;
}

function breaksIn(text: string): number {
  return text.match(BREAKS)?.length ?? 0;
}

/** True where a line break at `end` is whole: a carriage return at the very end may be half of one. */
function isWhole(text: string, end: number): boolean {
  return end < text.length && (text[end] === '\n' || end + 1 < text.length);
}

function afterLineBreak(text: string, end: number): number {
  return text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1;
}

/** The index of the closing quote; -1 where there is none. */
function closingQuote(text: string, open: number): number {
  for (let from = open + 1; ; from += 2) {
    from = text.indexOf('"', from);
    if (from === -1 || text[from + 1] !== '"') return from;
  }
}
