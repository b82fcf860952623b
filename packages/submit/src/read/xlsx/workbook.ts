/**
 * The parts of an XLSX file besides its cells: the sheets, the texts and the formats of numbers. Relationships name
 * them, as every spreadsheet reads them: their own names and places are free.
 */
import { builtInFormat, formatOf, type NumberFormat } from './number-format.ts';
import { type Relationship, relationshipsOf } from './relationships.ts';
import { MAX_TEXT_BYTES, readSharedStrings, type SharedStrings } from './shared-strings.ts';
import { type Sheet, sheetsOf } from './sheets.ts';
import { readAll } from './xml.ts';
import type { Archive } from './zip.ts';

export interface Workbook {
  readonly sheets: readonly Sheet[];
  /** True where dates count from 1904. */
  readonly from1904: boolean;
  /** By the number of the cell's style; empty where the file has no styles. */
  readonly formats: readonly NumberFormat[];
  /**
   * True where a program asks for the results of all formulas to be calculated anew: those in the file are not true.
   */
  readonly isUncalculated: boolean;
  readonly strings: SharedStrings;
}

const SMALL_PART_BYTES = 16 * 1024 * 1024;
const SHARED_STRINGS_BYTES = 8 * MAX_TEXT_BYTES;

/** Where programs put the workbook that name no place for it. */
const USUAL_PATH = 'xl/workbook.xml';

/** Reads the workbook; null where the archive has none. Throws what reading its parts throws. */
export async function readWorkbook(archive: Archive): Promise<Workbook | null> {
  const ofFile = await relationshipsOf(archive, '');
  const path = partOf(ofFile, 'officeDocument') ?? USUAL_PATH;
  const part = await archive.part(path, SMALL_PART_BYTES);
  if (part === null) return null;
  const listed: { name: string; id: string; isHidden: boolean }[] = [];
  let from1904 = false;
  let isUncalculated = false;
  await readAll(part, (name, attributes) => {
    if (name === 'workbookPr') from1904 = isTrue(attributes.date1904);
    if (name === 'calcPr')
      isUncalculated = isTrue(attributes.fullCalcOnLoad) || attributes.calcCompleted === '0';
    if (name !== 'sheet') return;
    const id = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1] ?? '';
    listed.push({ name: attributes.name ?? '', id, isHidden: attributes.state?.includes('idden') === true });
  });
  const ofWorkbook = await relationshipsOf(archive, path);
  const sheets = sheetsOf(
    listed.map((one) => ({ ...one, target: ofWorkbook.find(({ id }) => id === one.id) })),
  );
  if (!sheets.some(({ isTable }) => isTable)) return null;
  const strings = partOf(ofWorkbook, 'sharedStrings');
  return {
    sheets,
    from1904,
    formats: await readFormats(archive, partOf(ofWorkbook, 'styles')),
    isUncalculated,
    strings: await readSharedStrings(
      strings === null ? null : await archive.part(strings, SHARED_STRINGS_BYTES),
    ),
  };
}

function partOf(relationships: readonly Relationship[], type: string): string | null {
  return relationships.find((one) => one.type === type)?.part ?? null;
}

async function readFormats(archive: Archive, path: string | null): Promise<NumberFormat[]> {
  const byId = new Map<number, NumberFormat>();
  const formats: NumberFormat[] = [];
  let inCells = false;
  const part = path === null ? null : await archive.part(path, SMALL_PART_BYTES);
  await readAll(part, (name, attributes) => {
    if (name === 'numFmt') byId.set(Number(attributes.numFmtId), formatOf(attributes.formatCode ?? ''));
    else if (name === 'cellXfs') inCells = true;
    else if (name === 'cellStyles' || name === 'dxfs') inCells = false;
    else if (name === 'xf' && inCells) {
      const id = Number(attributes.numFmtId ?? 0);
      formats.push(byId.get(id) ?? builtInFormat(id));
    }
  });
  return formats;
}

/** A boolean of the XML; an absent one is false. */
function isTrue(text = ''): boolean {
  return text === '1' || text === 'true';
}
