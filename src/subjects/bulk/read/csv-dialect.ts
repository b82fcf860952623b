/** Guesses how a CSV file is written, from the first piece of its text. */
import { CsvRecords } from './csv-records.ts';
import { ENOUGH_NAMES, GUESSED_ROWS, type HeaderChoice } from './header.ts';
import { ROW_COLUMN } from './rejected-rows.ts';
import { MAX_ROW_SIZE } from './table.ts';

/** How a file is written. */
export interface Dialect {
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
export function dialectOf(text: string, choice: HeaderChoice): Dialect {
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
