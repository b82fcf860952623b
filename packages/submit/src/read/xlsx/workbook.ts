/**
 * The parts of an XLSX file besides its cells: the sheets, the texts and the formats of numbers. Relationships name
 * them, as every spreadsheet reads them: their own names and places are free.
 */

import { BulkError } from '../bulk-error.ts';
import { textOfUtf8 } from '../bytes.ts';
import { type FileWords, inEach } from '../file-words.ts';
import { builtInFormat, formatOf, type NumberFormat } from './number-format.ts';
import { readAll, readXml } from './xml.ts';
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
export function isTrue(text = ''): boolean {
  return text === '1' || text === 'true';
}

// The sheets of a workbook, and which one is read.

export interface Sheet {
  readonly name: string;
  /** Its place among all sheets, from 1. */
  readonly number: number;
  readonly isHidden: boolean;
  /** False for a chart, which has no cells. */
  readonly isTable: boolean;
  /** The sheet's part of the archive. */
  readonly part: string;
}

/** A sheet as the workbook lists it, and the part that its id stands for. */
interface Listed {
  readonly name: string;
  readonly isHidden: boolean;
  readonly target: Relationship | undefined;
}

/** No text for people names more sheets. */
const SHOWN_SHEETS = 12;

/** The sheets in the workbook's order. */
export function sheetsOf(listed: readonly Listed[]): Sheet[] {
  return listed.map(({ name, isHidden, target }, index) => ({
    name,
    number: index + 1,
    isHidden,
    isTable: target !== undefined && !/^(chartsheet|dialogsheet|xl\w*macrosheet)$/i.test(target.type),
    part: target?.part ?? '',
  }));
}

/** The sheet with the name, in any capitalisation, or else with the number. Throws `BulkError`. */
export function sheetNamed(file: string, sheets: readonly Sheet[], wanted: string): Sheet {
  const fold = (name: string) => name.trim().toLowerCase();
  const all = listOf(sheets);
  const refusal = ({ en, es, pt }: FileWords) =>
    new BulkError({
      en: `${file}: --sheet: ${en}. Sheets: ${all.en}`,
      es: `${file}: --sheet: ${es}. Hojas: ${all.es}`,
      pt: `${file}: --sheet: ${pt}. Planilhas: ${all.pt}`,
    });
  const sheet =
    sheets.find(({ name }) => name === wanted) ??
    sheets.find(({ name }) => fold(name) === fold(wanted)) ??
    sheets.find(({ number }) => String(number) === wanted.trim());
  if (sheet === undefined)
    throw refusal({
      en: `there is no sheet "${wanted}"`,
      es: `no hay una hoja "${wanted}"`,
      pt: `não há uma planilha "${wanted}"`,
    });
  if (!sheet.isTable)
    throw refusal(
      inEach(
        (language) =>
          `${listOf([sheet])[language]} ${{ en: 'has no cells', es: 'no tiene celdas', pt: 'não tem células' }[language]}`,
      ),
    );
  return sheet;
}

/** The sheets that may be read without being chosen: those that a person sees. */
export function visibleTables(sheets: readonly Sheet[]): readonly Sheet[] {
  const tables = sheets.filter(({ isTable }) => isTable);
  const visible = tables.filter(({ isHidden }) => !isHidden);
  return visible.length > 0 ? visible : tables;
}

const A_CHART: FileWords = { en: 'a chart', es: 'un gráfico', pt: 'um gráfico' };
const HIDDEN: FileWords = { en: 'hidden', es: 'oculta', pt: 'oculta' };

/** `1 "Hoja1", 2 "Resumen" (a chart), 3 "Datos" (hidden)`. */
export function listOf(sheets: readonly Sheet[]): FileWords {
  return inEach((language) => {
    const named = sheets.slice(0, SHOWN_SHEETS).map(({ name, number, isHidden, isTable }) => {
      const what = [isTable ? [] : A_CHART[language], isHidden ? HIDDEN[language] : []].flat().join(', ');
      return `${number} "${name}"${what === '' ? '' : ` (${what})`}`;
    });
    const rest = sheets.length - named.length;
    const more = { en: ` and ${rest} more`, es: ` y ${rest} más`, pt: ` e mais ${rest}` };
    return `${named.join(', ')}${rest > 0 ? more[language] : ''}`;
  });
}

// The relationships of a part to other parts of an XLSX file (ECMA-376, part 2, 6.5).

interface Relationship {
  readonly id: string;
  /** The last word of its type: strict and transitional files write different words before it. */
  readonly type: string;
  /** The whole name of the part that it leads to. */
  readonly part: string;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** The relationships of the part `source` to parts of the file; those of the file itself where `source` is empty. */
async function relationshipsOf(archive: Archive, source: string): Promise<Relationship[]> {
  const slash = source.lastIndexOf('/') + 1;
  const [folder, base] = [source.slice(0, slash), source.slice(slash)];
  const found: Relationship[] = [];
  const part = await archive.part(`${folder}_rels/${base}.rels`, MAX_BYTES);
  await readAll(part, (name, { Id = '', Type = '', Target = '', TargetMode }) => {
    if (name !== 'Relationship' || TargetMode === 'External') return;
    const target = Target.replaceAll('\\', '/');
    const part = resolved(target.startsWith('/') ? target : folder + target);
    found.push({ id: Id, type: Type.slice(Type.lastIndexOf('/') + 1), part });
  });
  return found;
}

/** The path from the root of the archive, without `.`, `..` and empty segments. */
function resolved(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return segments.join('/');
}

// The table of texts that an XLSX file keeps apart from its cells. It is packed, because there can be millions of
// texts.

const PIECE_BYTES = 1024 * 1024;
/** The texts and their starts take at most 128 MiB together. */
const MAX_TEXTS = 8_000_000;
const MAX_TEXT_BYTES = 96 * 1024 * 1024;
const SHARED_STRINGS_BYTES = 8 * MAX_TEXT_BYTES;

/** The file has more texts than the bounds allow. */
export class TooManyTexts extends Error {}

/** Ends a text; UTF-8 never has this byte. */
const END = 0xff;
const STARTS_A_BLOCK = 65_536;

const encoder = new TextEncoder();

/** Texts by number, as UTF-8 in pieces of a mebibyte. */
class SharedStrings {
  readonly #pieces: Uint8Array[] = [];
  /** The start of each text, in blocks: the number of its piece and its offset there, as one number. */
  readonly #starts: Uint32Array[] = [];
  #count = 0;
  #used = PIECE_BYTES;

  /** Throws `TooManyTexts`. */
  add(text: string): void {
    const full = this.#pieces.length * PIECE_BYTES > MAX_TEXT_BYTES;
    if (full || this.#count === MAX_TEXTS) throw new TooManyTexts();
    let length = this.#written(text);
    if (length === null) {
      this.#pieces.push(new Uint8Array(PIECE_BYTES));
      this.#used = 0;
      length = this.#written(text);
    }
    if (length === null) throw new TooManyTexts();
    const slot = this.#count % STARTS_A_BLOCK;
    if (slot === 0) this.#starts.push(new Uint32Array(STARTS_A_BLOCK));
    this.#starts.at(-1)![slot] = (this.#pieces.length - 1) * PIECE_BYTES + this.#used;
    this.#used += length;
    this.#count += 1;
  }

  /** Writes the text and its end into the last piece. The number of bytes; null where they do not fit. */
  #written(text: string): number | null {
    const bytes = this.#pieces.at(-1);
    if (bytes === undefined || this.#used === PIECE_BYTES) return null;
    const { read, written } = encoder.encodeInto(text, bytes.subarray(this.#used, PIECE_BYTES - 1));
    if (read < text.length) return null;
    bytes[this.#used + written] = END;
    return written + 1;
  }

  /** The text with the number; undefined where there is none. */
  get(index: number): string | undefined {
    if (!(index < this.#count)) return undefined;
    const slot = index % STARTS_A_BLOCK;
    const start = this.#starts[(index - slot) / STARTS_A_BLOCK]![slot]!;
    const offset = start % PIECE_BYTES;
    const piece = this.#pieces[(start - offset) / PIECE_BYTES]!;
    return textOfUtf8(piece.subarray(offset, piece.indexOf(END, offset)));
  }
}

/** Reads `sharedStrings.xml`. Joins texts in runs and leaves out pronunciations. */
async function readSharedStrings(bytes: AsyncIterable<Uint8Array> | null): Promise<SharedStrings> {
  const strings = new SharedStrings();
  if (bytes === null) return strings;
  let text = '';
  let inText = false;
  let inPronunciation = false;
  const reading = readXml(bytes, {
    open(name) {
      if (name === 'si') text = '';
      else if (name === 'rPh') inPronunciation = true;
      else if (name === 't') inText = !inPronunciation;
    },
    text(piece) {
      if (inText) text += piece;
      if (text.length > PIECE_BYTES) throw new TooManyTexts();
    },
    close(name) {
      if (name === 't') inText = false;
      else if (name === 'rPh') inPronunciation = false;
      else if (name === 'si') strings.add(text);
    },
  });
  for await (const _ of reading);
  return strings;
}
