/** Writes files of applicants in every format, by hand, so that no library reads what it has written itself. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { APPLICANT } from '../../../test/support/applicant.ts';
import { nodeFile } from '../src/commands/node-file.ts';
import { TRUE_AND_FALSE } from '../src/map/consent.ts';
import { openSource, type Source, type SourceOptions } from '../src/map/source.ts';
import type { FileRow } from '../src/read/table.ts';

const folder = mkdtempSync(join(tmpdir(), 'ventanilla-bulk-'));
// Several test files of a process write here.
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** Writes a file into a folder of its own and returns its path. */
export function fileOf(name: string, content: string | Uint8Array): string {
  files += 1;
  const path = join(mkdtempSync(join(folder, `${files}-`)), name);
  writeFileSync(path, content);
  return path;
}

export type Applicant = Readonly<Record<string, string | number | boolean | null>>;

export const PLAIN: SourceOptions = {
  encoding: null,
  map: [],
  ignore: [],
  language: 'en',
  headerRow: null,
  sheet: null,
  visibleOnly: false,
  conversion: { decimal: null, consent: TRUE_AND_FALSE, values: new Map(), country: null },
};

/** A source with the given options over the defaults. */
export async function sourceOf(path: string, options: Partial<SourceOptions> = {}): Promise<Source> {
  return openSource(await nodeFile(path), { ...PLAIN, ...options });
}

/** All elements of pieces, in one array. */
export async function allOf<T>(pieces: AsyncIterable<readonly T[]>): Promise<T[]> {
  const list: T[] = [];
  for await (const piece of pieces) list.push(...piece);
  return list;
}

export async function rowsOf(path: string, options?: Partial<SourceOptions>): Promise<FileRow[]> {
  const source = await sourceOf(path, options);
  return allOf(source.table.rows());
}

/** The applications of a file, row by row. */
export async function applicationsOf(path: string, options?: Partial<SourceOptions>) {
  const source = await sourceOf(path, options);
  return (await allOf(source.convertedRows())).map(({ application }) => application);
}

function namesOf(applicants: readonly Applicant[]): string[] {
  return [...new Set(applicants.flatMap((applicant) => Object.keys(applicant)))];
}

export function csvOf(applicants: readonly Applicant[], delimiter = ',', newline = '\n'): string {
  const names = namesOf(applicants);
  const cell = (value: Applicant[string] | undefined) => `"${String(value ?? '').replaceAll('"', '""')}"`;
  const lines = [names.map(cell), ...applicants.map((one) => names.map((name) => cell(one[name])))];
  return lines.map((cells) => cells.join(delimiter) + newline).join('');
}

export interface SheetCell {
  readonly type?: string;
  readonly style?: number;
  readonly value: string;
  readonly formula?: string;
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
export const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

function escaped(text: string): string {
  return text
    .replace(/_(?=x[0-9A-F]{4}_)/g, '_x005F_')
    .replace(
      /[\0-\x08\x0b-\x1f]/g,
      (sign) => `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    )
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

/** Writes texts shared and inline by turns, as different programs do. */
export function xlsxOf(applicants: readonly Applicant[]): Buffer {
  const names = namesOf(applicants);
  const shared: string[] = [];
  const cell = (value: Applicant[string] | undefined, place: number): SheetCell | null => {
    if (value === null || value === undefined) return null;
    if (typeof value === 'number') return { value: String(value) };
    if (typeof value === 'boolean') return { type: 'b', value: value ? '1' : '0' };
    if (place % 2 === 1) return { type: 'inlineStr', value };
    return { type: 's', value: String(shared.push(value) - 1) };
  };
  const rows = [names, ...applicants.map((one) => names.map((name) => one[name]))];
  return workbookOf(
    rows.map((values) => values.map(cell)),
    { shared },
  );
}

/** A workbook of one sheet. `styles` has the format's code by the number of the style. */
export function workbookOf(
  rows: readonly (readonly (SheetCell | null)[])[],
  {
    shared = [],
    styles = [],
    more = {},
  }: { shared?: string[]; styles?: string[]; more?: Record<string, string> } = {},
): Buffer {
  const sheet = rows.map((cells, index) => {
    const written = cells.map((one, place) => {
      if (one === null) return '';
      const reference = `${letters(place)}${index + 1}`;
      const formula = one.formula === undefined ? '' : `<f>${escaped(one.formula)}</f>`;
      const attributes = `r="${reference}"${one.type === undefined ? '' : ` t="${one.type}"`} s="${one.style ?? 0}"`;
      const value =
        one.type === 'inlineStr'
          ? `<is><t xml:space="preserve">${escaped(one.value)}</t></is>`
          : one.value === ''
            ? ''
            : `<v>${escaped(one.value)}</v>`;
      return `<c ${attributes}>${formula}${value}</c>`;
    });
    return `<row r="${index + 1}">${written.join('')}</row>`;
  });
  const formats = styles.map(
    (code, index) =>
      `<numFmt numFmtId="${200 + index}" formatCode="${escaped(code).replaceAll('"', '&quot;')}"/>`,
  );
  const xfs = ['<xf numFmtId="0"/>', ...styles.map((_, index) => `<xf numFmtId="${200 + index}"/>`)];
  return zipOf({
    '[Content_Types].xml': `${XML}<Types/>`,
    '_rels/.rels': relationships({ rId1: ['officeDocument', 'xl/workbook.xml'] }),
    'xl/workbook.xml': `${XML}<workbook ${MAIN} xmlns:r="${RELATIONS}"><sheets><sheet name="Hoja1" sheetId="1" r:id="rId7"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationships({
      rId7: ['worksheet', 'worksheets/sheet1.xml'],
      rId8: ['styles', 'styles.xml'],
      rId9: ['sharedStrings', 'sharedStrings.xml'],
    }),
    'xl/styles.xml': `${XML}<styleSheet ${MAIN}><numFmts>${formats.join('')}</numFmts><cellXfs>${xfs.join('')}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `${XML}<sst ${MAIN}>${shared.map((text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`).join('')}</sst>`,
    'xl/worksheets/sheet1.xml': `${XML}<worksheet ${MAIN}><sheetData>${sheet.join('')}</sheetData></worksheet>`,
    ...more,
  });
}

/** A part of relationships: types and targets by id. */
export function relationships(
  byId: Readonly<Record<string, readonly [type: string, target: string]>>,
  namespace = RELATIONS,
): string {
  const list = Object.entries(byId).map(
    ([id, [type, target]]) =>
      `<Relationship Id="${id}" Type="${namespace}/${type}" Target="${escaped(target)}"/>`,
  );
  return `${XML}<Relationships>${list.join('')}</Relationships>`;
}

export interface TestSheet {
  readonly name: string;
  readonly rows?: readonly (readonly string[])[];
  readonly state?: 'hidden' | 'veryHidden';
  readonly isChart?: boolean;
  /** Attributes of rows, by their numbers. */
  readonly rowAttributes?: Readonly<Record<number, string>>;
  readonly merged?: readonly string[];
  /** The XML before the rows. */
  readonly before?: string;
}

/** A workbook of sheets with texts. */
export function sheetsOf(...sheets: readonly TestSheet[]): Buffer {
  const parts: Record<string, string> = {};
  const listed: string[] = [];
  const relations: string[] = [];
  for (const [index, { name, state, isChart = false, rows = [], ...sheet }] of sheets.entries()) {
    const [id, kind] = [`rId${index + 1}`, isChart ? 'chartsheet' : 'worksheet'];
    const stateOf = state === undefined ? '' : ` state="${state}"`;
    listed.push(`<sheet name="${escaped(name)}" sheetId="${index + 1}"${stateOf} r:id="${id}"/>`);
    relations.push(
      `<Relationship Id="${id}" Type="${RELATIONS}/${kind}" Target="${kind}s/sheet${index + 1}.xml"/>`,
    );
    const cells = rows.map((values, row) => {
      const written = values.map((value, column) =>
        value === ''
          ? ''
          : `<c r="${letters(column)}${row + 1}" t="inlineStr"><is><t xml:space="preserve">${escaped(value)}</t></is></c>`,
      );
      return `<row r="${row + 1}" ${sheet.rowAttributes?.[row + 1] ?? ''}>${written.join('')}</row>`;
    });
    const merged = (sheet.merged ?? []).map((reference) => `<mergeCell ref="${reference}"/>`);
    parts[`xl/${kind}s/sheet${index + 1}.xml`] = isChart
      ? `${XML}<chartsheet ${MAIN}/>`
      : `${XML}<worksheet ${MAIN}>${sheet.before ?? ''}<sheetData>${cells.join('')}</sheetData>` +
        `<mergeCells>${merged.join('')}</mergeCells></worksheet>`;
  }
  return zipOf({
    'xl/workbook.xml': `${XML}<workbook ${MAIN} xmlns:r="${RELATIONS}"><sheets>${listed.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${XML}<Relationships>${relations.join('')}</Relationships>`,
    ...parts,
  });
}

function letters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : `${letters(Math.floor(column / 26) - 1)}${last}`;
}

/** A zip archive of the parts; `declare` changes the unpacked size in its directory. */
export function zipOf(
  parts: Readonly<Record<string, string | Buffer>>,
  declare = (size: number) => size,
): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(parts)) {
    const raw = Buffer.from(content as string);
    const packed = deflateRawSync(raw);
    const sizes = Buffer.alloc(12);
    sizes.writeUInt32LE(crc32(raw), 0);
    sizes.writeUInt32LE(packed.length, 4);
    sizes.writeUInt32LE(declare(raw.length), 8);
    const head = Buffer.concat([
      Buffer.from('14000008080000000000', 'hex'),
      sizes,
      word(name.length),
      word(0),
    ]);
    const local = Buffer.concat([Buffer.from('504b0304', 'hex'), head, Buffer.from(name), packed]);
    const place = Buffer.alloc(4);
    place.writeUInt32LE(offset);
    const rest = Buffer.concat([word(0), word(0), word(0), Buffer.alloc(4), place]);
    directory.push(Buffer.concat([Buffer.from('504b01021400', 'hex'), head, rest, Buffer.from(name)]));
    bodies.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(22);
  end.write('504b0506', 'hex');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, ...directory, end]);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

/** A valid applicant with some changes. */
export function applicant(changes: Record<string, string | number | boolean | null> = {}): Applicant {
  return { ...APPLICANT, ...changes };
}
