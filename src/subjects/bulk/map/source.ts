/** A file of applicants, opened, with its columns mapped and its conversion chosen. */
import { setFlagsFromString } from 'node:v8';
import type { Country } from '../../../ground/base/country-data.ts';
import type { Language, Words } from '../../../ground/base/language.ts';
import { BulkError, COLUMN } from '../read/bulk-error.ts';
import { openCsv } from '../read/csv.ts';
import { isCodePage } from '../read/encoding/code-pages.ts';
import type { Encoding } from '../read/encoding/encoding.ts';
import type { HeaderChoice } from '../read/header.ts';
import { type Inspected, inspect, refuseChanged } from '../read/inspect.ts';
import { openJson } from '../read/json.ts';
import { isRejectedHeader, withoutApostrophes } from '../read/rejected-rows.ts';
import type { FileRow, Table } from '../read/table.ts';
import type { SheetChoice } from '../read/xlsx/xlsx.ts';
import type { Conversion } from './cell-readers.ts';
import {
  BULK_FIELDS,
  type ColumnChoice,
  fieldNamed,
  knownNameCounter,
  type Mapping,
  mapColumns,
} from './columns.ts';
import { type CellFault, type ConvertedRow, converter } from './convert.ts';
import { damageFinder } from './damaged-text.ts';
import { refuseMerged, secondTableRefuser } from './table-shape.ts';

/** A larger file has rows enough to fill the memory with garbage. */
const LARGE_BYTES = 16 * 1024 * 1024;

export interface SourceOptions extends ColumnChoice {
  readonly encoding: Encoding | null;
  /** The number of the row with the columns' names; null where the row is guessed. */
  readonly headerRow: number | null;
  readonly conversion: Conversion;
  /** The name or the number of the sheet; null where the sheet is found by its columns. */
  readonly sheet: string | null;
  /** True where rows that the sheet hides are left out. */
  readonly visibleOnly: boolean;
  /** The language of the texts for people. */
  readonly language: Language;
}

export interface Source {
  readonly file: Inspected;
  readonly table: Table;
  readonly mapping: Mapping;
  /**
   * The separator of columns in the file, and in the files that are written beside it. A comma where the file has
   * none.
   */
  readonly delimiter: string;
  readonly language: Language;
  /** Notes for people on how the file was read. */
  readonly notes: readonly string[];
  /** The rows as they would be sent, in groups as the pieces of the file hold them. Throws `BulkError`. */
  convertedRows(): AsyncIterable<readonly ConvertedRow[]>;
  /** The text of a fault with its column's name. */
  textOf(fault: CellFault): string;
  /** Decides, together with the file and the country, what is sent: two runs with equal settings send the same. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The partner's country; null while nobody knows it. */
  readonly country: Country | null;
  /** The same source for a partner of this country. */
  inCountry(country: Country | null): Source;
}

/** Reads the whole file once (JSON: twice). Throws `BulkError`. */
export async function openSource(path: string, options: SourceOptions): Promise<Source> {
  const file = await inspect(path, options.encoding);
  if (file.size > LARGE_BYTES) {
    // Collects garbage early: half of the memory at nearly the same speed.
    setFlagsFromString('--optimize-for-size');
    // Otherwise V8 may take rows for objects that live long, at twice the CPU.
    setFlagsFromString('--no-allocation-site-pretenuring');
  }
  const countKnown = knownNameCounter(BULK_FIELDS, options);
  const opened = await openTable(file, { row: options.headerRow, countKnown }, options);
  const table = withoutApostrophes(opened.table);
  const mapping = mapColumns(file.file, table, BULK_FIELDS, options);
  const { conversion, language } = options;
  const inCountry = (country: Country | null): Source => ({
    file,
    table,
    mapping,
    delimiter: opened.delimiter,
    language,
    notes: [...notesOf(file, options), ...table.notes].map((note) => note[language]),
    convertedRows: () =>
      converted(file, table, mapping, readerOf(file, table, mapping, countKnown, { ...conversion, country })),
    textOf: ({ column, text }) => `${COLUMN[language]} "${table.columns[column]}": ${text[language]}`,
    country,
    inCountry,
    settings: {
      encoding: file.encoding,
      sheet: table.sheet,
      visibleOnly: options.visibleOnly,
      headerRow: table.headerRow,
      columns: Object.fromEntries(mapping.fields.map(({ field, columns }) => [field.name, columns])),
      decimal: conversion.decimal,
      consent: [...conversion.consent],
      values: Array.from(conversion.values, ([field, words]) => [field, ...words]),
    },
  });
  return inCountry(conversion.country);
}

function* notesOf({ disagreement, encoding }: Inspected, options: SourceOptions): Generator<Words> {
  if (disagreement !== null) yield disagreement;
  if (options.encoding !== null || encoding === null || !isCodePage(encoding)) return;
  yield {
    en: `its names tell that it is ${encoding}; --encoding chooses another encoding`,
    es: `por sus nombres es ${encoding}; --encoding elige otra codificación`,
  };
}

async function* converted(
  file: Inspected,
  table: Table,
  mapping: Mapping,
  read: (row: FileRow) => ConvertedRow,
): AsyncGenerator<readonly ConvertedRow[]> {
  try {
    for await (const rows of table.rows()) yield rows.map(read);
    refuseMerged(file.file, table, mapping);
  } catch (error) {
    // A file that was rewritten meanwhile would only look damaged.
    await refuseChanged(file);
    throw error;
  }
}

async function openTable(
  file: Inspected,
  choice: HeaderChoice,
  options: SheetChoice,
): Promise<{ table: Table; delimiter: string }> {
  if (file.format === 'XLSX') {
    // Loaded here, to keep the start of the program short.
    const { openXlsx } = await import('../read/xlsx/xlsx.ts');
    return { table: await openXlsx(file, choice, options), delimiter: ',' };
  }
  if (file.format !== 'CSV') {
    if (choice.row !== null) {
      throw new BulkError({
        en: `${file.file}: ${file.format} has no row with columns' names: leave --header-row out`,
        es: `${file.file}: ${file.format} no tiene una fila con nombres de columnas: quita --header-row`,
      });
    }
    refuseSheetOptions(file, options);
    return { table: await openJson(file), delimiter: ',' };
  }
  const table = await openCsv(file, choice);
  // A file of rejected rows is submitted with the options of the original file.
  if (!isRejectedHeader(table.columns)) refuseSheetOptions(file, options);
  return { table, delimiter: table.delimiter };
}

/** A table saved as CSV has its hidden rows too, and they do not say so. */
function refuseSheetOptions({ file, format }: Inspected, { sheet, visibleOnly }: SheetChoice): void {
  const option = sheet === null ? '--visible-only' : '--sheet';
  if (sheet !== null || visibleOnly)
    throw new BulkError({
      en: `${file}: ${format} has no sheets and no hidden rows: leave ${option} out`,
      es: `${file}: ${format} no tiene hojas ni filas ocultas: quita ${option}`,
    });
}

/** Reads one row: its applicant, and the faults of its cells. Throws `BulkError` where a second table begins. */
function readerOf(
  { file, format }: Inspected,
  table: Table,
  mapping: Mapping,
  countKnown: HeaderChoice['countKnown'],
  conversion: Conversion,
): (row: FileRow) => ConvertedRow {
  const refuseSecond = secondTableRefuser(file, table, mapping, countKnown);
  const convert = converter(mapping, conversion, format === 'XLSX' ? 'typed' : 'bare');
  const findDamage = damageFinder(mapping);
  return (row) => {
    refuseSecond(row);
    return findDamage(convert(row));
  };
}

/** Reads `field=Column`. Throws `BulkError` for an unknown field. */
export function readMap(text: string): [field: string, column: string] {
  const equals = text.indexOf('=');
  const [field, column] = [text.slice(0, equals).trim(), text.slice(equals + 1).trim()];
  if (equals < 1 || column === '')
    throw new BulkError({
      en: `--map ${text}: write it as field=Column`,
      es: `--map ${text}: escríbelo como campo=Columna`,
    });
  if (fieldNamed(field, BULK_FIELDS) === null) {
    const names = BULK_FIELDS.map(({ name }) => name).join(', ');
    throw new BulkError({
      en: `--map ${text}: there is no such field. Fields: ${names}`,
      es: `--map ${text}: no existe ese campo. Campos: ${names}`,
    });
  }
  return [field, column];
}
