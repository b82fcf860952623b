/** Inspects a file: its format by content, its encoding by all of its bytes, and its digest. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { inEach, type Words } from '../../../../src/ground/base/language.ts';
import { type BulkError, bulkErrorAt } from './bulk-error.ts';
import { asUtf8, type Encoding, encodingOfHead, hasUtf8Mark, isCodePage } from './encoding/encoding.ts';
import { EncodingSurvey } from './encoding/encoding-survey.ts';

type Format = 'CSV' | 'JSONL' | 'JSON' | 'XLSX';

/** A file as it was at the inspection. */
export interface Inspected {
  readonly path: string;
  /** The name without folders, for texts. */
  readonly file: string;
  /** Bytes. */
  readonly size: number;
  readonly mtime: Date;
  /** In hex. */
  readonly sha256: string;
  readonly format: Format;
  /** null for XLSX, which says its own encoding. */
  readonly encoding: Encoding | null;
  /** A note where the name and the content disagree on the format; else null. */
  readonly disagreement: Words | null;
}

const PIECE_BYTES = 32 * 1024;
const HEAD_BYTES = 64 * 1024;
const EXTENSIONS: Readonly<Record<string, readonly Format[]>> = {
  '.csv': ['CSV'],
  '.tsv': ['CSV'],
  '.txt': ['CSV', 'JSONL'],
  '.jsonl': ['JSONL'],
  '.ndjson': ['JSONL'],
  '.json': ['JSON'],
  '.xlsx': ['XLSX'],
};
/** Texts that are no table. Some systems give an exported web page the name of an old Excel file. */
const MARKUP: readonly (readonly [beginning: RegExp, what: Words])[] = [
  [/^(<!--((?!-->).)*-->\s*)*<(!doctype\s+html|html|head|meta|body|style|table|div)[\s>]/is, {
    en: 'it is a web page (HTML): open it in a spreadsheet and save it as .xlsx',
    es: 'es una página web (HTML): ábrela en una hoja de cálculo y guárdala como .xlsx' }],
  [/^<\?xml\s/i, {
    en: 'it is XML: open it in a spreadsheet and save it as .xlsx',
    es: 'es XML: ábrelo en una hoja de cálculo y guárdalo como .xlsx' }],
]; // biome-ignore format: one table
const OTHERS: readonly (readonly [magic: string, what: Words])[] = [
  ['d0cf11e0', {
    en: 'it is an old Excel file (.xls) or one with a password: save it as .xlsx without a password',
    es: 'es un archivo de Excel antiguo (.xls) o con contraseña: guárdalo como .xlsx sin contraseña' }],
  ['1f8b', { en: 'it is compressed (gzip): unpack it first', es: 'está comprimido (gzip): descomprímelo primero' }],
  ['25504446', { en: 'it is a PDF: save the table as CSV or XLSX', es: 'es un PDF: guarda la tabla como CSV o XLSX' }],
]; // biome-ignore format: one table
const CHANGED: Words = { en: 'it changed while it was read', es: 'cambió mientras se leía' };
const NOT_OPENED: Readonly<Record<string, Words>> = {
  ENOENT: { en: 'there is no such file', es: 'no existe ese archivo' },
  EACCES: { en: 'it may not be read', es: 'no hay permiso para leerlo' },
};

/** The error `applicants.csv: what`. */
function errorOf(file: string, what: Words): BulkError {
  return bulkErrorAt(file, null, null, what);
}

/** The error for a file without a value. */
export function onlyEmptyLines(file: string): BulkError {
  return errorOf(file, { en: 'it holds nothing but empty lines', es: 'solo tiene líneas vacías' });
}

/** Reads the whole file once. Throws `BulkError` where the file cannot hold applicants. */
export async function inspect(path: string, wanted: Encoding | null): Promise<Inspected> {
  const file = basename(path);
  const handle = await openFile(path);
  try {
    const stats = await handle.stat();
    const { size } = stats;
    const mtime = new Date(Math.trunc(stats.mtimeMs));
    if (!stats.isFile()) throw errorOf(file, { en: 'it is not a file', es: 'no es un archivo' });
    if (size === 0) throw errorOf(file, { en: 'it is empty', es: 'está vacío' });
    const hash = createHash('sha256');
    const survey = new EncodingSurvey();
    let head: Buffer = Buffer.alloc(0);
    let read = 0;
    let isSurveyed = false;
    for await (const chunk of piecesOf(handle)) {
      if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk]).subarray(0, HEAD_BYTES);
      hash.update(chunk);
      // The first piece shows whether the bytes are a text whose encoding is to be found.
      if (read === 0) isSurveyed = !isZip(chunk) && encodingOfHead(chunk) === null;
      if (isSurveyed) survey.add(chunk);
      read += chunk.length;
    }
    if (read !== size) throw errorOf(file, CHANGED);
    const facts = { path, file, size, mtime, sha256: hash.digest('hex') };
    if (isZip(head))
      return { ...facts, format: 'XLSX', encoding: null, disagreement: disagreement(file, 'XLSX') };
    refuseOthers(file, head);
    // The file's own mark wins: a file of rejected rows is submitted with the options of the original file.
    const told = encodingOfHead(head) ?? (hasUtf8Mark(head) && survey.isUtf8 ? 'UTF-8' : null);
    const encoding = told ?? wanted ?? survey.end(file);
    const isOther = wanted !== encoding && encoding !== 'UTF-8';
    if (wanted !== null && (isOther || (isCodePage(encoding) && survey.isSurelyUtf8))) {
      const found = isOther ? encoding : 'UTF-8';
      throw errorOf(file, { en: `it is ${found}, not ${wanted}`, es: `es ${found}, no ${wanted}` });
    }
    if (encoding === 'UTF-8' && !survey.isUtf8)
      throw errorOf(file, { en: 'it is not UTF-8', es: 'no es UTF-8' });
    const format = await formatOf(file, head, encoding);
    return { ...facts, format, encoding, disagreement: disagreement(file, format) };
  } finally {
    await handle.close();
  }
}

/** The text of a file as UTF-8 bytes without a byte order mark. Throws `BulkError` where the file changed since. */
export function textOf(inspected: Inspected): AsyncIterable<Buffer> {
  return asUtf8(inspected.file, bytesOf(inspected), inspected.encoding ?? 'UTF-8');
}

async function* bytesOf(inspected: Inspected): AsyncGenerator<Buffer> {
  const handle = await openFile(inspected.path);
  try {
    yield* piecesOf(handle);
  } finally {
    await handle.close();
  }
  await refuseChanged(inspected);
}

/** Throws `BulkError` where the file changed since the inspection: only rows that were shown are sent. */
export async function refuseChanged(inspected: Inspected): Promise<void> {
  if (!(await isUnchanged(inspected))) throw errorOf(inspected.file, CHANGED);
}

/** True where the file has the size and the time that it had at the inspection. */
export async function isUnchanged({ path, size, mtime }: Inspected): Promise<boolean> {
  const now = await stat(path).catch(() => null);
  return now !== null && now.size === size && Math.trunc(now.mtimeMs) === mtime.getTime();
}

/** A named pipe without a writer is opened too, where the plain way would wait for one. Windows has neither. */
const READ_WITHOUT_WAIT = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, READ_WITHOUT_WAIT);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw errorOf(basename(path), NOT_OPENED[`${code}`] ?? inEach(() => `${code}`));
  }
}

async function* piecesOf(handle: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

function isZip(head: Buffer): boolean {
  return head.subarray(0, 2).toString('latin1') === 'PK';
}

function refuseOthers(file: string, head: Buffer): void {
  const hex = head.subarray(0, 4).toString('hex');
  for (const [magic, what] of OTHERS) if (hex.startsWith(magic)) throw errorOf(file, what);
  if (encodingOfHead(head) === null && head.includes(0)) {
    throw errorOf(file, {
      en: 'it is neither text nor an XLSX file',
      es: 'no es ni texto ni un archivo XLSX',
    });
  }
}

/** JSON begins with a bracket. A file whose first line is a whole object, but not the root, is JSONL. */
async function formatOf(file: string, head: Buffer, encoding: Encoding): Promise<Format> {
  const text = (await decodedHead(file, head, encoding)).trimStart();
  if (text === '') throw onlyEmptyLines(file);
  for (const [beginning, what] of MARKUP) {
    if (beginning.test(text)) throw errorOf(file, what);
  }
  if (text.startsWith('[')) return 'JSON';
  if (!text.startsWith('{')) return 'CSV';
  const [line = ''] = text.split('\n', 1);
  const first = parseObject(line.trim());
  if (first === undefined) return extname(file).toLowerCase().endsWith('l') ? 'JSONL' : 'JSON';
  return 'applications' in first || 'aplicaciones' in first ? 'JSON' : 'JSONL';
}

async function decodedHead(file: string, head: Buffer, encoding: Encoding): Promise<string> {
  // `stream` is set, because the head may end in the middle of a character.
  if (encoding.startsWith('UTF-16')) return new TextDecoder(encoding).decode(head, { stream: true });
  let text = '';
  async function* once() {
    yield head;
  }
  for await (const piece of asUtf8(file, once(), encoding)) text += piece.toString();
  return text;
}

function parseObject(text: string): object | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function disagreement(file: string, format: Format): Words | null {
  const promised = EXTENSIONS[extname(file).toLowerCase()];
  if (promised === undefined || promised.includes(format)) return null;
  return {
    en: `its name ends in ${extname(file)}, but by its content it is ${format}: it is read as ${format}`,
    es: `su nombre termina en ${extname(file)}, pero por su contenido es ${format}: se lee como ${format}`,
  };
}
