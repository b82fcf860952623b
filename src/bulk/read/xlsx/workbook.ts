/** The parts of an XLSX file besides its cells: the sheets, the texts and the formats of numbers. */
import { builtInFormat, formatOf, type NumberFormat } from './number-format.ts';
import { MAX_TEXT_BYTES, readSharedStrings, type SharedStrings } from './shared-strings.ts';
import { type Sheet, sheetsOf } from './sheets.ts';
import { readXml } from './xml.ts';
import type { Archive } from './zip.ts';

export interface Workbook {
  readonly sheets: readonly Sheet[];
  /** True where dates count from 1904. */
  readonly from1904: boolean;
  /** By the number of the cell's style. */
  readonly formats: readonly NumberFormat[];
  /**
   * True where a program asks for the results of all formulas to be calculated anew: those in the file are not true.
   */
  readonly isUncalculated: boolean;
  readonly strings: SharedStrings;
}

const SMALL_PART_BYTES = 16 * 1024 * 1024;
const SHARED_STRINGS_BYTES = 8 * MAX_TEXT_BYTES;

/** Reads the workbook; null where the archive has none. Throws what reading its parts throws. */
export async function readWorkbook(archive: Archive): Promise<Workbook | null> {
  const part = await archive.part('xl/workbook.xml', SMALL_PART_BYTES);
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
  const targets = new Map<string, { path: string; type: string }>();
  await readAll(await archive.part('xl/_rels/workbook.xml.rels', SMALL_PART_BYTES), (name, attributes) => {
    if (name !== 'Relationship') return;
    targets.set(attributes.Id ?? '', { path: attributes.Target ?? '', type: attributes.Type ?? '' });
  });
  const sheets = sheetsOf(listed.map((one) => ({ ...one, target: targets.get(one.id) })));
  if (!sheets.some(({ isTable }) => isTable)) return null;
  return {
    sheets,
    from1904,
    formats: await readFormats(archive),
    isUncalculated,
    strings: await readSharedStrings(await archive.part('xl/sharedStrings.xml', SHARED_STRINGS_BYTES)),
  };
}

async function readFormats(archive: Archive): Promise<NumberFormat[]> {
  const byId = new Map<number, NumberFormat>();
  const formats: NumberFormat[] = [];
  let inCells = false;
  await readAll(await archive.part('xl/styles.xml', SMALL_PART_BYTES), (name, attributes) => {
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

async function readAll(
  bytes: AsyncIterable<Buffer> | null,
  open: (name: string, attributes: Readonly<Record<string, string>>) => void,
): Promise<void> {
  if (bytes === null) return;
  for await (const _ of readXml(bytes, { open }));
}
