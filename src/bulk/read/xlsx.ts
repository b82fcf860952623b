/** Reads XLSX files: the first visible sheet, row by row. */

import { BulkError } from './bulk-error.ts';
import { findHeader, type HeaderChoice } from './header.ts';
import { type Inspected, refuseChanged } from './inspect.ts';
import { TooManyTexts } from './shared-strings.ts';
import { SheetRows } from './sheet-rows.ts';
import { type FileRow, isBlank, type Table } from './table.ts';
import { readWorkbook, type Workbook } from './workbook.ts';
import { readXml, XmlFault } from './xml.ts';
import { type Archive, openArchive } from './zip.ts';

/** Reads the workbook, and the rows up to the one with the columns' names. Throws `BulkError`. */
export async function openXlsx(file: Inspected, choice: HeaderChoice): Promise<Table> {
  const archive = await openArchive(file);
  try {
    const workbook = await guarded(file, () => readWorkbook(archive));
    if (workbook === null) throw new BulkError(`${file.file}: it is ${otherArchive(archive)}`);
    const header = await findHeader(file.file, rowsOf(file, archive, workbook), choice);
    if (header === null) throw new BulkError(`${file.file}: its sheet "${workbook.sheetName}" is empty`);
    const { number, columns, notes } = header;
    return {
      columns,
      headerRow: number,
      notes: [...notesOf(workbook), ...notes],
      rows: () => dataRows(file, workbook, number, columns.length),
    };
  } finally {
    archive.close();
  }
}

function otherArchive({ has }: Archive): string {
  if (has('xl/workbook.bin')) return 'a binary Excel file (.xlsb): save it as .xlsx';
  if (has('mimetype') && has('content.xml')) return 'an OpenDocument file (.ods): save it as .xlsx';
  return 'an archive (ZIP) without a workbook: unpack it first';
}

function notesOf({ sheetName, sheetCount }: Workbook): string[] {
  return sheetCount === 1 ? [] : [`the file has ${sheetCount} sheets: only "${sheetName}" is read`];
}

async function* dataRows(
  file: Inspected,
  workbook: Workbook,
  header: number,
  width: number,
): AsyncGenerator<readonly FileRow[]> {
  const archive = await openArchive(file);
  try {
    for await (const rows of rowsOf(file, archive, workbook)) {
      yield rows
        .filter(({ number }) => number > header)
        .map((row) => {
          const outside = row.cells.length > width && !isBlank(row.cells.slice(width));
          return outside ? { ...row, fault: 'it has a value beyond the last named column' } : row;
        });
    }
    await refuseChanged(file);
  } finally {
    archive.close();
  }
}

/** The rows with a value, including the header. */
async function* rowsOf(
  file: Inspected,
  archive: Archive,
  workbook: Workbook,
): AsyncGenerator<readonly FileRow[]> {
  const sheet = new SheetRows(file.file, workbook);
  const part = await archive.part(workbook.sheetPart);
  if (part === null) throw new BulkError(`${file.file}: its sheet "${workbook.sheetName}" is missing`);
  const reading = readXml(part, sheet);
  try {
    for (;;) {
      const { done } = await guarded(file, () => reading.next());
      yield sheet.take();
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
    if (error instanceof XmlFault) throw new BulkError(`${file.file}: it is damaged (XML ${error.message})`);
    if (error instanceof TooManyTexts) {
      throw new BulkError(`${file.file}: it holds more texts than memory allows. Save the table as CSV`);
    }
    throw error;
  }
}
