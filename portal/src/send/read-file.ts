/**
 * Reads a file that a person chose, as `ventanilla submit --dry-run` does (docs/submit.md), in pieces: the page goes on
 * while it reads. Nothing leaves the browser.
 */

import { type Check, checkRows } from '../../../packages/submit/src/map/check.ts';
import { columnInOption } from '../../../packages/submit/src/map/columns.ts';
import { TRUE_AND_FALSE } from '../../../packages/submit/src/map/consent.ts';
import type { ConvertedRow } from '../../../packages/submit/src/map/convert.ts';
import { openSource, type Source } from '../../../packages/submit/src/map/source.ts';
import { readValueMaps } from '../../../packages/submit/src/map/words.ts';
import { BulkError } from '../../../packages/submit/src/read/bulk-error.ts';
import { chosenFile } from '../../../packages/submit/src/read/chosen-file.ts';
import type { CodePage } from '../../../packages/submit/src/read/encoding/encoding.ts';
import { DoubtfulEncoding } from '../../../packages/submit/src/read/encoding/encoding-survey.ts';
import type { FileLanguage } from '../../../packages/submit/src/read/file-words.ts';
import { type Inspected, inspect } from '../../../packages/submit/src/read/inspect.ts';
import { csvLine, MARK, rejectedForm, textOf } from '../../../packages/submit/src/send/row-csv.ts';
import type { FieldName } from '../../../src/domain/application/fields.ts';
import type { Country } from '../../../src/ground/base/country-data.ts';
import { inLine } from '../../../src/ground/base/plain-text.ts';

/** What the page keeps in memory at once. `ventanilla submit` has neither bound. */
export const MOST_ROWS = 100_000;
export const MOST_BYTES = 48 * 1024 * 1024;

/** What the person has answered so far. Another answer reads the file again. */
export interface Answers {
  readonly encoding: CodePage | null;
  /** The name of the sheet, and the number of the row with the columns' names; null: they are found. */
  readonly sheet: string | null;
  readonly headerRow: number | null;
  /** Rows that the sheet hides are left out. */
  readonly visibleOnly: boolean;
  readonly decimal: 'comma' | 'point' | null;
  /** The value of each word, by field: `debt_age:Más de 2 años` is `gt2`. */
  readonly words: Readonly<Record<string, string>>;
  /** The field of each column that no field is read from, by its number from 0; empty: the column is left out. */
  readonly columns: Readonly<Record<number, FieldName | ''>>;
}

export const NO_ANSWERS: Answers = {
  ...{ encoding: null, sheet: null, headerRow: null, visibleOnly: false, decimal: null },
  words: {},
  columns: {},
};

/** A row as it would be sent, and what is wrong with it. */
export interface ReadRow {
  readonly number: number;
  /** By the fields of `Reading.fields`. */
  readonly values: readonly string[];
  readonly faults: readonly string[];
}

/** A field, and the columns that it is read from. */
export interface ReadField {
  readonly name: FieldName;
  readonly columns: readonly string[];
}

export interface Reading {
  readonly format: string;
  readonly encoding: string | null;
  readonly notes: readonly string[];
  readonly fields: readonly ReadField[];
  readonly rows: readonly ReadRow[];
  readonly check: Check;
  /** What the rows are read from again when they are sent. */
  readonly source: Source;
  /** The file of refused rows, as `submit` writes it. */
  readonly refused: Blob;
}

/** What a person may choose of the file: one of its sheets, and the row with the columns' names where it has one. */
interface Choices {
  readonly sheets: readonly string[];
  readonly hasNames: boolean;
}

export type Outcome =
  | ({ readonly kind: 'read'; readonly reading: Reading } & Choices)
  | { readonly kind: 'doubtful'; readonly readings: DoubtfulEncoding['readings'] }
  | ({ readonly kind: 'unreadable'; readonly text: string } & Choices);

/** The file is larger than the page takes. */
export class TooLarge extends Error {}

/** For whom a file is read. */
export interface Reader {
  readonly language: FileLanguage;
  /** The partner's: phones without country code are read there, and amounts with `$` have its currency. */
  readonly country: Country;
}

/** Rejects with the reason of `signal`, and with `TooLarge`. `onRows` gets the number of rows so far. */
export async function readFile(
  file: File,
  answers: Answers,
  { language, country }: Reader,
  { signal, onRows }: { readonly signal: AbortSignal; readonly onRows: (rows: number) => void },
): Promise<Outcome> {
  if (file.size > MOST_BYTES) throw new TooLarge();
  try {
    const source = await opened(file, answers, { language, country });
    return {
      kind: 'read',
      ...(await choicesOf(source.file)),
      reading: await readingOf(source, (rows) => {
        signal.throwIfAborted();
        if (rows > MOST_ROWS) throw new TooLarge();
        onRows(rows);
      }),
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DoubtfulEncoding) return { kind: 'doubtful', readings: error.readings };
    if (error instanceof BulkError)
      return {
        kind: 'unreadable',
        text: withoutOptions(error.words[language] ?? error.words.en),
        ...(await inspect(chosenFile(file), answers.encoding).then(choicesOf, () => NO_CHOICES)),
      };
    throw error;
  }
}

const NO_CHOICES: Choices = { sheets: [], hasNames: false };

async function choicesOf(file: Inspected): Promise<Choices> {
  if (file.format !== 'XLSX') return { sheets: [], hasNames: file.format === 'CSV' };
  const { sheetNames } = await import('../../../packages/submit/src/read/xlsx/xlsx.ts');
  return { sheets: await sheetNames(file).catch(() => []), hasNames: true };
}

async function opened(file: File, answers: Answers, { language, country }: Reader): Promise<Source> {
  const options = {
    encoding: answers.encoding,
    language,
    headerRow: answers.headerRow,
    sheet: answers.sheet,
    visibleOnly: answers.visibleOnly,
    conversion: {
      decimal: answers.decimal,
      consent: TRUE_AND_FALSE,
      values: readValueMaps(Object.entries(answers.words).map(([word, value]) => `${word}=${value}`)),
      country,
    },
  } as const;
  const chosen = Object.entries(answers.columns);
  const source = await openSource(chosenFile(file), { ...options, map: [], ignore: [] });
  if (chosen.length === 0) return source;
  const nameOf = (column: string) => columnInOption(source.table.columns, Number(column));
  return openSource(chosenFile(file), {
    ...options,
    map: chosen.flatMap(([column, field]) => (field === '' ? [] : [[field, nameOf(column)] as const])),
    ignore: chosen.flatMap(([column, field]) => (field === '' ? [nameOf(column)] : [])),
  });
}

async function readingOf(source: Source, onProgress: (rows: number) => void): Promise<Reading> {
  // The rules of phones take longer to load than all the rest.
  const { serviceRules } = await import('../../../packages/submit/src/map/rules.ts');
  const { fields } = source.mapping;
  const rows: ReadRow[] = [];
  const form = rejectedForm(source.table.columns);
  const refused: string[] = [];
  const check = await checkRows(source, {
    judge: serviceRules(source, 'PRO'),
    onRow(row, faults) {
      rows.push({
        number: row.row.number,
        values: valuesOf(row, fields),
        faults: faults.map(withoutOptions),
      });
    },
    async onRefused(row, reason) {
      refused.push(csvLine(form.line(row, reason), source.delimiter));
    },
    onProgress,
  });
  return {
    format: source.file.format,
    encoding: source.file.encoding,
    notes: source.notes.map(withoutOptions),
    fields: fields.map(({ field, columns }) => ({
      name: field.name,
      columns: columns.map((column) => source.table.columns[column] ?? ''),
    })),
    rows,
    check,
    source,
    refused: new Blob([MARK, csvLine(form.header, source.delimiter), ...refused], { type: 'text/csv' }),
  };
}

/** The values that would be sent; of a refused cell what stands in it. */
function valuesOf({ row, application }: ConvertedRow, fields: Source['mapping']['fields']): string[] {
  return fields.map(({ field, columns }) => {
    const value = application[field.name];
    if (value !== undefined) return inLine(typeof value === 'object' ? JSON.stringify(value) : String(value));
    return inLine(columns.map((column) => textOf(row.cells[column])).find((text) => text !== '') ?? '');
  });
}

/** The text without the options of the command line, for which the page has questions. */
export function withoutOptions(text: string): string {
  return text.replace(/[:;.(][^:;.(]*--[a-z][^.;]*/g, '');
}
