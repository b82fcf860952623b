/** Reads XLSX files: one sheet, row by row. */
import { counted } from '../../../../../src/ground/base/counted.ts';
import { bulkErrorAt, Fault } from '../bulk-error.ts';
import { type FileWords, inEach } from '../file-words.ts';
import { ENOUGH_NAMES, findHeader, type Header, type HeaderChoice } from '../header.ts';
import { type Inspected, refuseChanged } from '../inspect.ts';
import { type FileRow, isBlank, type Table } from '../table.ts';
import { MergedCells } from './merged-cells.ts';
import { SheetRows } from './sheet-rows.ts';
import {
  listOf,
  readWorkbook,
  type Sheet,
  sheetNamed,
  TooManyTexts,
  visibleTables,
  type Workbook,
} from './workbook.ts';
import { readXml } from './xml.ts';
import { type Archive, openArchive } from './zip.ts';

export interface SheetChoice {
  /** The name or the number of the sheet; null where the sheet is found by its columns. */
  readonly sheet: string | null;
  /** True where rows that the sheet hides are left out. */
  readonly visibleOnly: boolean;
}

/** A sheet with the row of its columns' names. */
interface Found {
  readonly sheet: Sheet;
  readonly header: Header;
  readonly hiddenColumns: SheetRows['hiddenColumns'];
  /** True where the names are those of applicants. */
  readonly fits: boolean;
}

/** No more sheets are looked at to find the one with the applicants. */
const MAX_LOOKED_AT = 50;
const BEYOND: FileWords = {
  en: 'it has a value beyond the last named column',
  es: 'tiene un valor después de la última columna con nombre',
  pt: 'tem um valor depois da última coluna com nome',
};

/** Reads the workbook, and the rows of the sheet up to the one with the columns' names. Throws `BulkError`. */
export async function openXlsx(
  file: Inspected,
  choice: HeaderChoice,
  { sheet: wanted, visibleOnly }: SheetChoice,
): Promise<Table> {
  const archive = await openArchive(file);
  try {
    const workbook = await guarded(file, () => readWorkbook(archive));
    if (workbook === null) throw bulkErrorAt(file.file, null, null, otherArchive(archive));
    const { sheets } = workbook;
    const possible = wanted === null ? visibleTables(sheets) : [sheetNamed(file.file, sheets, wanted)];
    const found = await headersOf(file, archive, workbook, possible, choice);
    const chosen = found.find(({ fits }) => fits) ?? found[0];
    if (chosen === undefined) throw bulkErrorAt(file.file, null, null, emptyText(sheets, possible));
    const { sheet, header } = chosen;
    const { number, columns, notes } = header;
    const merged = new MergedCells(number, columns);
    const others = sheets.filter((one) => one !== sheet);
    return {
      columns,
      headerRow: number,
      sheet: sheet.name,
      elsewhere: others.length === 0 ? null : otherSheets(others),
      merged,
      notes: [...sheetNotes(chosen, found, sheets), ...notes, ...columnNotes(chosen)],
      rows: () =>
        dataRows(file, workbook, sheet, { header: number, width: columns.length, visibleOnly, merged }),
    };
  } finally {
    await archive.close();
  }
}

/** The names of the sheets that have cells, in the workbook's order. Throws `BulkError`. */
export async function sheetNames(file: Inspected): Promise<string[]> {
  const archive = await openArchive(file);
  try {
    const workbook = await guarded(file, () => readWorkbook(archive));
    return (workbook?.sheets ?? []).filter(({ isTable }) => isTable).map(({ name }) => name);
  } finally {
    await archive.close();
  }
}

function otherArchive({ has }: Archive): FileWords {
  if (has('xl/workbook.bin'))
    return {
      en: 'it is a binary Excel file (.xlsb): save it as .xlsx',
      es: 'es un archivo binario de Excel (.xlsb): guárdalo como .xlsx',
      pt: 'é um arquivo binário do Excel (.xlsb): salve-o como .xlsx',
    };
  if (has('mimetype') && has('content.xml'))
    return {
      en: 'it is an OpenDocument file (.ods): save it as .xlsx',
      es: 'es un archivo OpenDocument (.ods): guárdalo como .xlsx',
      pt: 'é um arquivo OpenDocument (.ods): salve-o como .xlsx',
    };
  return {
    en: 'it is an archive (ZIP) without a workbook: unpack it first',
    es: 'es un archivo comprimido (ZIP) sin un libro de Excel: descomprímelo primero',
    pt: 'é um arquivo compactado (ZIP) sem uma pasta de trabalho do Excel: descompacte-o antes',
  };
}

function otherSheets(sheets: readonly Sheet[]): FileWords {
  const { en, es, pt } = listOf(sheets);
  return {
    en: `Other sheets: ${en}; --sheet chooses one`,
    es: `Otras hojas: ${es}; --sheet elige una`,
    pt: `Outras planilhas: ${pt}; --sheet escolhe uma`,
  };
}

/** The headers of the sheets that have values. */
async function headersOf(
  file: Inspected,
  archive: Archive,
  workbook: Workbook,
  sheets: readonly Sheet[],
  choice: HeaderChoice,
): Promise<Found[]> {
  const found: Found[] = [];
  let absent: unknown = null;
  for (const sheet of sheets.slice(0, MAX_LOOKED_AT)) {
    const reader = new SheetRows(file.file, workbook);
    const rows = rowsOf(file, archive, sheet, reader);
    try {
      const header = await findHeader(file.file, rows, choice);
      if (header === null) continue;
      const fits = choice.countKnown(header.columns) >= ENOUGH_NAMES;
      found.push({ sheet, header, hiddenColumns: reader.hiddenColumns, fits });
    } catch (error) {
      // The row of --header-row may be in another sheet. A sheet after the one that is read does not matter.
      if (choice.row === null && !found.some(({ fits }) => fits)) throw error;
      absent ??= error;
    }
  }
  if (found.length === 0 && absent !== null) throw absent;
  return found;
}

function emptyText(sheets: readonly Sheet[], looked: readonly Sheet[]): FileWords {
  const others = sheets.filter((sheet) => !looked.includes(sheet));
  const [first] = looked;
  const list = listOf(looked);
  const what: FileWords =
    looked.length === 1
      ? {
          en: `its sheet "${first?.name}" is empty`,
          es: `su hoja "${first?.name}" está vacía`,
          pt: `a planilha "${first?.name}" está vazia`,
        }
      : {
          en: `no sheet has a row with columns' names: ${list.en} are empty`,
          es: `ninguna hoja tiene una fila con nombres de columnas: ${list.es} están vacías`,
          pt: `nenhuma planilha tem uma linha com nomes de colunas: ${list.pt} estão vazias`,
        };
  if (others.length === 0) return what;
  return inEach((language) => `${what[language]}. ${otherSheets(others)[language]}`);
}

function sheetNotes({ sheet }: Found, found: readonly Found[], sheets: readonly Sheet[]): FileWords[] {
  const others = sheets.filter((one) => one !== sheet);
  if (others.length === 0) return [];
  const [read, unread] = [listOf([sheet]), listOf(others)];
  const notes: FileWords[] = [
    {
      en: `the file has ${counted(sheets.length, 'sheet')}: only ${read.en} is read. Not read: ${unread.en}; --sheet chooses one`,
      es: `el archivo tiene ${counted(sheets.length, 'hoja')}: solo se lee ${read.es}. No se lee: ${unread.es}; --sheet elige una`,
      pt: `o arquivo tem ${counted(sheets.length, 'planilha')}: só se lê ${read.pt}. Não se lê: ${unread.pt}; --sheet escolhe uma`,
    },
  ];
  const alike = listOf(found.filter((one) => one.fits && one.sheet !== sheet).map((one) => one.sheet));
  if (alike.en !== '')
    notes.push({
      en: `applicants may also be in ${alike.en}: submit each sheet by itself`,
      es: `también puede haber solicitantes en ${alike.es}: envía cada hoja por separado`,
      pt: `também pode haver solicitantes em ${alike.pt}: envie cada planilha separadamente`,
    });
  return notes;
}

function columnNotes({ header, hiddenColumns }: Found): FileWords[] {
  const isHidden = (column: number) =>
    hiddenColumns.some(([first, last]) => column >= first && column <= last);
  const names = header.columns.filter((name, column) => name !== '' && isHidden(column));
  if (names.length === 0) return [];
  return [
    {
      en: `columns that the sheet hides are read too: ${names.join(', ')}`,
      es: `también se leen las columnas que la hoja oculta: ${names.join(', ')}`,
      pt: `as colunas que a planilha oculta também são lidas: ${names.join(', ')}`,
    },
  ];
}

interface Reading {
  readonly header: number;
  readonly width: number;
  readonly visibleOnly: boolean;
  readonly merged: MergedCells;
}

async function* dataRows(
  file: Inspected,
  workbook: Workbook,
  sheet: Sheet,
  { header, width, visibleOnly, merged }: Reading,
): AsyncGenerator<readonly FileRow[]> {
  const archive = await openArchive(file);
  const reader = new SheetRows(file.file, workbook);
  try {
    for await (const rows of rowsOf(file, archive, sheet, reader)) {
      yield rows
        .filter(({ number, isHidden }) => number > header && !(visibleOnly && isHidden))
        .map((row) => {
          merged.addRow(row.number, row.cells);
          const outside = row.cells.length > width && !isBlank(row.cells.slice(width));
          return outside ? { ...row, fault: BEYOND } : row;
        });
      for (const reference of reader.takeMerged()) merged.addMerged(reference);
    }
    await refuseChanged(file);
  } finally {
    await archive.close();
  }
}

/** The rows with a value, including the header. */
async function* rowsOf(
  file: Inspected,
  archive: Archive,
  sheet: Sheet,
  reader: SheetRows,
): AsyncGenerator<readonly FileRow[]> {
  const part = await archive.part(sheet.part);
  if (part === null)
    throw bulkErrorAt(file.file, null, null, {
      en: `its sheet "${sheet.name}" is missing`,
      es: `falta su hoja "${sheet.name}"`,
      pt: `falta a planilha "${sheet.name}"`,
    });
  const reading = readXml(part, reader);
  try {
    for (;;) {
      const { done } = await guarded(file, () => reading.next());
      yield reader.take();
      if (done) return;
    }
  } finally {
    // A stream that is left midway would keep the file open.
    await reading.return(undefined);
  }
}

async function guarded<T>(file: Inspected, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Fault)
      throw bulkErrorAt(file.file, null, null, {
        en: `it is damaged (XML ${error.words.en})`,
        es: `está dañado (XML ${error.words.es})`,
        pt: `está danificado (XML ${error.words.pt})`,
      });
    if (error instanceof TooManyTexts)
      throw bulkErrorAt(file.file, null, null, {
        en: 'it holds more texts than memory allows. Save the table as CSV',
        es: 'tiene más textos de los que permite la memoria. Guarda la tabla como CSV',
        pt: 'tem mais textos do que a memória permite. Salve a tabela como CSV',
      });
    throw error;
  }
}
