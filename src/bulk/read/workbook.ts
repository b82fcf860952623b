/**
 * The parts of an XLSX file besides its cells: the sheets, the texts, and which formats are dates or percentages.
 */
import { MAX_TEXT_BYTES, readSharedStrings, type SharedStrings } from './shared-strings.ts';
import { type Sheet, sheetsOf } from './sheets.ts';
import { readXml } from './xml.ts';
import type { Archive } from './zip.ts';

export type NumberKind = 'number' | 'date' | 'percentage';

export interface Workbook {
  readonly sheets: readonly Sheet[];
  /** True where dates count from 1904. */
  readonly from1904: boolean;
  /** By the number of the cell's style. */
  readonly kinds: readonly NumberKind[];
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
  await readAll(part, (name, attributes) => {
    if (name === 'workbookPr') from1904 = ['1', 'true'].includes(attributes.date1904 ?? '');
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
    kinds: await readKinds(archive),
    strings: await readSharedStrings(await archive.part('xl/sharedStrings.xml', SHARED_STRINGS_BYTES)),
  };
}

async function readKinds(archive: Archive): Promise<NumberKind[]> {
  const codes = new Map<number, string>();
  const kinds: NumberKind[] = [];
  let inCells = false;
  await readAll(await archive.part('xl/styles.xml', SMALL_PART_BYTES), (name, attributes) => {
    if (name === 'numFmt') codes.set(Number(attributes.numFmtId), attributes.formatCode ?? '');
    else if (name === 'cellXfs') inCells = true;
    else if (name === 'cellStyles' || name === 'dxfs') inCells = false;
    else if (name === 'xf' && inCells) kinds.push(kindOf(Number(attributes.numFmtId), codes));
  });
  return kinds;
}

/** Formats below 164 are built in and have no code (ECMA-376, part 1, 18.8.30). */
function kindOf(id: number, codes: ReadonlyMap<number, string>): NumberKind {
  const code = codes.get(id);
  if (code !== undefined) return kindOfCode(code);
  if (id === 9 || id === 10) return 'percentage';
  const date =
    (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);
  return date ? 'date' : 'number';
}

/**
 * The kind of number that a format's code shows. Its letters count; its quoted texts, colours and currencies do not.
 */
export function kindOfCode(code: string): NumberKind {
  const bare = code.replace(/"[^"]*"|\\.|_.|\*./g, '').replace(/\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '');
  if (/[dmyhs]/i.test(bare)) return 'date';
  return bare.includes('%') ? 'percentage' : 'number';
}

async function readAll(
  bytes: AsyncIterable<Buffer> | null,
  open: (name: string, attributes: Readonly<Record<string, string>>) => void,
): Promise<void> {
  if (bytes === null) return;
  for await (const _ of readXml(bytes, { open }));
}
