/** A file of applicants, opened, with its columns mapped and its conversion chosen. */
import type { FieldName } from '../../../../src/domain/application/fields.ts';
import type { Country } from '../../../../src/ground/base/country-data.ts';
import { BulkError, bulkErrorAt, COLUMN } from '../read/bulk-error.ts';
import type { ByteSource } from '../read/byte-source.ts';
import { openCsv } from '../read/csv.ts';
import { type Encoding, isCodePage } from '../read/encoding/encoding.ts';
import type { FileLanguage, FileWords } from '../read/file-words.ts';
import { ENOUGH_NAMES, type HeaderChoice } from '../read/header.ts';
import { type Inspected, inspect, refuseChanged } from '../read/inspect.ts';
import { openJson } from '../read/json.ts';
import { isRejectedHeader, withoutApostrophes } from '../read/rejected-rows.ts';
import type { Cell, FileRow, Table } from '../read/table.ts';
import type { SheetChoice } from '../read/xlsx/xlsx.ts';
import {
  BULK_FIELDS,
  type ColumnChoice,
  fieldNamed,
  isRequired,
  knownNameCounter,
  type Mapping,
  mapColumns,
  simplify,
} from './columns.ts';
import { type CellFault, type Conversion, type ConvertedRow, converter } from './convert.ts';

// Recognises names and cities that a program damaged: it read them in a wrong encoding, or wrote them for another
// program. A file of any encoding can have such texts. The service itself could not tell such a text from a name.

const CHECKED: readonly FieldName[] = ['name', 'city'];
/** A text without these signs is sound. Most texts have plain letters and the usual accents alone, and end here. */
const SUSPICIOUS = /^\s*['"]|[^\0-\x7fáéíóúñüãõâêôàçÁÉÍÓÚÑÜ]|[?&\\%=_]|[a-záéíóúñüãõâêôàç][ÁÉÍÓÚÑÜ]/;
const DAMAGED: readonly RegExp[] = [
  // What programs write for a character that they cannot show or do not know.
  /\ufffd|[\x80-\x9f]|\p{L}[?¿]|[?]\p{L}/u,
  // UTF-8 read by a code page: `GÃ³mez`, `G├│mez`, `G√≥mez`.
  /[ÃÂ][\u00a1-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|Â\xa0|â€|ÔÇ|ΓÇ|‚Ä/,
  // A code page read by another: `GarcÝa`, `Mu¤oz`, `Gonz‡lez`. The signs ´, ` and ° are usual in names and addresses.
  /\p{Ll}[À-ÖØ-Þ]|\p{Lu}[ÀÂ-ÈÊ-ÌÎ-ÐÒÔÕÖØÙÛÝÞ]\p{Ll}/u,
  /\p{L}[¡¢£¤¥¦§¨©¬®¯±²³¶¸¹»«¼½¾×÷ƒ‚„†‡‰ˆ˜‹›•…\u2200-\u25ff\ue000-\uf8ff\xad]\p{L}/u,
  /\p{L}[¢£¤¥¦¬±¶¸×÷ƒ‚„†‡‰ˆ˜\u2200-\u25ff\ue000-\uf8ff]|[¤¦¬±¶¸×÷ƒˆ˜\u2200-\u259f\ue000-\uf8ff]\p{L}/u,
  // The second of the two characters is gone: `Ãlvaro`, `GARCÃA`.
  /(?<!\p{L})Ã\p{L}|\p{Lu}Ã[A-DF-HJ-MP-RT-Y]/u,
  // Written for HTML, JSON, mail, Python, a URL or XML: `Mu&ntilde;oz`, `Mu\u00f1oz`, `Mu=F1oz`, `Mu\xf1oz`,
  // `Mu%C3%B1oz`.
  /&(?:[a-z]{2,8}|#\d{1,7}|#x[\da-f]{1,6});|\\u[\da-f]{4}|\\x[\da-f]{2}|[=%][c-f][\da-f]|_x[\da-f]{4}_/i,
];
/**
 * Marks that a program wrote: quotation marks around a text, or an apostrophe before it, which keeps a spreadsheet from
 * reading a number. `'t Hooft` is a name.
 */
const IN_MARKS = /^\s*(?:'(?!t\b)|"[^"]*"\s*$)/;
const MARKS_FAULT: FileWords = {
  en: 'the text stands in quotation marks or behind an apostrophe: a program wrote them, so take them off',
  es: 'el texto está entre comillas o detrás de un apóstrofo que puso un programa: quítalos',
  pt: 'o texto está entre aspas ou atrás de um apóstrofo que um programa pôs: retire-os',
};
const TEXT: FileWords = {
  en: 'the text is damaged: a program read it in a wrong encoding (such as "MuÃ±oz" or "Mu?oz")',
  es: 'el texto está dañado: un programa lo leyó en otra codificación (como "MuÃ±oz" o "Mu?oz")',
  pt: 'o texto está danificado: um programa o leu em outra codificação (como "JoÃ£o" ou "Jo?o")',
};

/** True for a text that a program damaged. */
export function isDamaged(text: string): boolean {
  return faultOf(text) !== null;
}

function faultOf(text: string): FileWords | null {
  if (!SUSPICIOUS.test(text)) return null;
  if (DAMAGED.some((pattern) => pattern.test(text))) return TEXT;
  return IN_MARKS.test(text) ? MARKS_FAULT : null;
}

/** Adds the faults of damaged names and cities to converted rows. */
function damageFinder({ fields }: Mapping): (row: ConvertedRow) => ConvertedRow {
  const checked = fields
    .filter(({ field }) => CHECKED.includes(field.name))
    .flatMap(({ field, columns }) => columns.map((column) => ({ field: field.name, column })));
  return (converted) => {
    const { cells } = converted.row;
    let faults: CellFault[] | undefined;
    for (const { field, column } of checked) {
      const text = cells[column];
      const fault = typeof text === 'string' ? faultOf(text) : null;
      if (fault === null) continue;
      // Of several columns the first one with a value counts.
      if (converted.application[field] !== text) continue;
      faults ??= [...converted.faults];
      faults.push({ field, column, ambiguous: false, text: fault });
    }
    return faults === undefined ? converted : { ...converted, faults };
  };
}

export interface SourceOptions<L extends FileLanguage = FileLanguage> extends ColumnChoice {
  readonly encoding: Encoding | null;
  /** The number of the row with the columns' names; null where the row is guessed. */
  readonly headerRow: number | null;
  readonly conversion: Conversion;
  /** The name or the number of the sheet; null where the sheet is found by its columns. */
  readonly sheet: string | null;
  /** True where rows that the sheet hides are left out. */
  readonly visibleOnly: boolean;
  /** The language of the texts for people. */
  readonly language: L;
}

export interface Source<L extends FileLanguage = FileLanguage> {
  readonly file: Inspected;
  readonly table: Table;
  readonly mapping: Mapping;
  /**
   * The separator of columns in the file, and in the files that are written beside it. A comma where the file has
   * none.
   */
  readonly delimiter: string;
  readonly language: L;
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
  inCountry(country: Country | null): Source<L>;
}

/** Reads the whole file once (JSON: twice). Throws `BulkError`. */
export async function openSource<L extends FileLanguage>(
  bytes: ByteSource,
  options: SourceOptions<L>,
): Promise<Source<L>> {
  const file = await inspect(bytes, options.encoding);
  const countKnown = knownNameCounter(BULK_FIELDS, options);
  const opened = await openTable(file, { row: options.headerRow, countKnown }, options);
  const table = withoutApostrophes(opened.table);
  const mapping = mapColumns(file.file, table, BULK_FIELDS, options);
  const { conversion, language } = options;
  const inCountry = (country: Country | null): Source<L> => ({
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

function* notesOf({ disagreement, encoding }: Inspected, options: SourceOptions): Generator<FileWords> {
  if (disagreement !== null) yield disagreement;
  if (options.encoding !== null || encoding === null || !isCodePage(encoding)) return;
  yield {
    en: `its names tell that it is ${encoding}; --encoding chooses another encoding`,
    es: `por sus nombres es ${encoding}; --encoding elige otra codificación`,
    pt: `pelos nomes é ${encoding}; --encoding escolhe outra codificação`,
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
        pt: `${file.file}: ${file.format} não tem uma linha com nomes de colunas: retire --header-row`,
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
      pt: `${file}: ${format} não tem planilhas nem linhas ocultas: retire ${option}`,
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
      pt: `--map ${text}: escreva-o como campo=Coluna`,
    });
  if (fieldNamed(field, BULK_FIELDS) === null) {
    const names = BULK_FIELDS.map(({ name }) => name).join(', ');
    throw new BulkError({
      en: `--map ${text}: there is no such field. Fields: ${names}`,
      es: `--map ${text}: no existe ese campo. Campos: ${names}`,
      pt: `--map ${text}: esse campo não existe. Campos: ${names}`,
    });
  }
  return [field, column];
}

// Refuses tables whose rows would be read with the wrong columns: merged cells, and a second table below the first.

/**
 * Throws `BulkError` where merged cells hide a value of a row. A row without a required value is rejected anyway. The
 * other fields may be absent, so their row would be sent without the value.
 */
function refuseMerged(file: string, { columns, headerRow, merged }: Table, { fields }: Mapping): void {
  if (merged === null) return;
  for (const { field, columns: read } of fields) {
    for (const column of read) {
      const name = columns[column] ?? '';
      if (merged.isWide(column)) {
        throw bulkErrorAt(file, headerRow, name, {
          en: 'the name is merged over several columns with values: give each column a name of its own',
          es: 'el nombre está combinado sobre varias columnas con valores: da a cada columna su propio nombre',
          pt: 'o nome está mesclado sobre várias colunas com valores: dê a cada coluna seu próprio nome',
        });
      }
      const row = merged.rowMergedAbove(column);
      if (row === null || isRequired(field)) continue;
      throw bulkErrorAt(file, row, name, {
        en: 'the cell is merged with the one above: split them, and fill each one',
        es: 'la celda está combinada con la de encima: sepáralas y llena cada una',
        pt: 'a célula está mesclada com a de cima: separe-as e preencha cada uma',
      });
    }
  }
}

/**
 * A function that throws `BulkError` at a row which is the header of another table, with its columns in another order.
 */
function secondTableRefuser(
  file: string,
  { columns, headerRow }: Table,
  { fields }: Mapping,
  countKnown: HeaderChoice['countKnown'],
): (row: FileRow) => void {
  const read = fields.flatMap((field) => field.columns);
  const amounts = fields.find(({ field }) => field.rule.kind === 'amount')?.columns[0] ?? 0;
  return ({ number, cells }) => {
    // Nearly every row of an applicant ends here.
    if (headerRow === null || beginsWithDigit(cells[amounts]) || cells.some(hasDigit)) return;
    const names = Array.from(cells, (cell) => (typeof cell === 'string' ? cell : ''));
    const isSame = (column: number) => simplify(names[column] ?? '') === simplify(columns[column] ?? '');
    if (countKnown(names) < ENOUGH_NAMES || read.every(isSame)) return;
    throw bulkErrorAt(file, number, null, {
      en: 'it has the names of columns again, in another order: put each table into a sheet or a file of its own',
      es: 'vuelve a tener nombres de columnas, en otro orden: pon cada tabla en una hoja o un archivo propio',
      pt: 'volta a ter nomes de colunas, em outra ordem: ponha cada tabela em uma planilha ou um arquivo próprio',
    });
  };
}

function beginsWithDigit(cell: Cell | undefined): boolean {
  if (typeof cell !== 'string') return typeof cell === 'number';
  const code = cell.charCodeAt(0);
  return code >= 0x30 && code <= 0x39;
}

function hasDigit(cell: Cell | undefined): boolean {
  return typeof cell === 'number' || (typeof cell === 'string' && /\d/.test(cell));
}
