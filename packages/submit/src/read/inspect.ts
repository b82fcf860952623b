/** Inspects a file: its format by content, its encoding by all of its bytes, and its digest. */

import { type BulkError, bulkErrorAt } from './bulk-error.ts';
import { type ByteSource, bytesBetween } from './byte-source.ts';
import { hexOf, joined, latin1Of, NO_BYTES, textOfUtf8 } from './bytes.ts';
import { asUtf8, type Encoding, encodingOfHead, hasUtf8Mark, isCodePage } from './encoding/encoding.ts';
import { EncodingSurvey } from './encoding/encoding-survey.ts';
import type { FileWords } from './file-words.ts';

type Format = 'CSV' | 'JSONL' | 'JSON' | 'XLSX';

/** A file as it was at the inspection. */
export interface Inspected {
  readonly bytes: ByteSource;
  /** The name without folders, for texts. */
  readonly file: string;
  /** In hex. */
  readonly sha256: string;
  readonly format: Format;
  /** null for XLSX, which says its own encoding. */
  readonly encoding: Encoding | null;
  /** A note where the name and the content disagree on the format; else null. */
  readonly disagreement: FileWords | null;
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
const MARKUP: readonly (readonly [beginning: RegExp, what: FileWords])[] = [
  [/^(<!--((?!-->).)*-->\s*)*<(!doctype\s+html|html|head|meta|body|style|table|div)[\s>]/is, {
    en: 'it is a web page (HTML): open it in a spreadsheet and save it as .xlsx',
    es: 'es una página web (HTML): ábrela en una hoja de cálculo y guárdala como .xlsx', pt: 'é uma página web (HTML): abra-a em uma planilha e salve-a como .xlsx' }],
  [/^<\?xml\s/i, {
    en: 'it is XML: open it in a spreadsheet and save it as .xlsx',
    es: 'es XML: ábrelo en una hoja de cálculo y guárdalo como .xlsx', pt: 'é XML: abra-o em uma planilha e salve-o como .xlsx' }],
]; // biome-ignore format: one table
const OTHERS: readonly (readonly [magic: string, what: FileWords])[] = [
  ['d0cf11e0', {
    en: 'it is an old Excel file (.xls) or one with a password: save it as .xlsx without a password',
    es: 'es un archivo de Excel antiguo (.xls) o con contraseña: guárdalo como .xlsx sin contraseña', pt: 'é um arquivo antigo do Excel (.xls) ou com senha: salve-o como .xlsx sem senha' }],
  ['1f8b', { en: 'it is compressed (gzip): unpack it first', es: 'está comprimido (gzip): descomprímelo primero', pt: 'está comprimido (gzip): descompacte-o antes' }],
  ['25504446', { en: 'it is a PDF: save the table as CSV or XLSX', es: 'es un PDF: guarda la tabla como CSV o XLSX', pt: 'é um PDF: salve a tabela como CSV ou XLSX' }],
]; // biome-ignore format: one table
const CHANGED: FileWords = {
  en: 'it changed while it was read',
  es: 'cambió mientras se leía',
  pt: 'mudou durante a leitura',
};

/** The error `applicants.csv: what`. */
function errorOf(file: string, what: FileWords): BulkError {
  return bulkErrorAt(file, null, null, what);
}

/** The error for a file without a value. */
export function onlyEmptyLines(file: string): BulkError {
  return errorOf(file, {
    en: 'it holds nothing but empty lines',
    es: 'solo tiene líneas vacías',
    pt: 'só tem linhas vazias',
  });
}

/** Reads the whole file once. Throws `BulkError` where the file cannot hold applicants. */
export async function inspect(bytes: ByteSource, wanted: Encoding | null): Promise<Inspected> {
  const { file } = bytes;
  if (bytes.size === 0) throw errorOf(file, { en: 'it is empty', es: 'está vacío', pt: 'está vazio' });
  const { head, survey, sha256 } = await surveyed(bytes);
  const facts = { bytes, file, sha256 };
  if (isZip(head))
    return { ...facts, format: 'XLSX', encoding: null, disagreement: disagreement(file, 'XLSX') };
  refuseOthers(file, head);
  // The file's own mark wins: a file of rejected rows is submitted with the options of the original file.
  const told = encodingOfHead(head) ?? (hasUtf8Mark(head) && survey.isUtf8 ? 'UTF-8' : null);
  const encoding = told ?? wanted ?? survey.end(file);
  const isOther = wanted !== encoding && encoding !== 'UTF-8';
  if (wanted !== null && (isOther || (isCodePage(encoding) && survey.isSurelyUtf8))) {
    const found = isOther ? encoding : 'UTF-8';
    throw errorOf(file, {
      en: `it is ${found}, not ${wanted}`,
      es: `es ${found}, no ${wanted}`,
      pt: `é ${found}, não ${wanted}`,
    });
  }
  if (encoding === 'UTF-8' && !survey.isUtf8)
    throw errorOf(file, { en: 'it is not UTF-8', es: 'no es UTF-8', pt: 'não é UTF-8' });
  const format = await formatOf(file, head, encoding);
  return { ...facts, format, encoding, disagreement: disagreement(file, format) };
}

/** The first bytes, what the words tell of the encoding, and the digest. */
async function surveyed(bytes: ByteSource) {
  const hash = bytes.sha256();
  const survey = new EncodingSurvey();
  let head = NO_BYTES;
  let read = 0;
  let isSurveyed = false;
  for await (const chunk of piecesOf(bytes)) {
    if (head.length < HEAD_BYTES) head = new Uint8Array(joined([head, chunk]).subarray(0, HEAD_BYTES));
    hash.add(chunk);
    // The first piece shows whether the bytes are a text whose encoding is to be found.
    if (read === 0) isSurveyed = !isZip(chunk) && encodingOfHead(chunk) === null;
    if (isSurveyed) survey.add(chunk);
    read += chunk.length;
  }
  if (read !== bytes.size) throw errorOf(bytes.file, CHANGED);
  return { head, survey, sha256: await hash.end() };
}

/** The text of a file as UTF-8 bytes without a byte order mark. Throws `BulkError` where the file changed since. */
export function textOf(inspected: Inspected): AsyncIterable<Uint8Array> {
  return asUtf8(inspected.file, bytesOf(inspected), inspected.encoding ?? 'UTF-8');
}

async function* bytesOf(inspected: Inspected): AsyncGenerator<Uint8Array> {
  yield* piecesOf(inspected.bytes);
  await refuseChanged(inspected);
}

async function* piecesOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  const bytes = await source.open();
  try {
    yield* bytesBetween(bytes, 0, Number.POSITIVE_INFINITY, PIECE_BYTES);
  } finally {
    await bytes.close();
  }
}

/** Throws `BulkError` where the file changed since the inspection: only rows that were shown are sent. */
export async function refuseChanged({ bytes, file }: Inspected): Promise<void> {
  if (!(await bytes.isUnchanged())) throw errorOf(file, CHANGED);
}

function isZip(head: Uint8Array): boolean {
  return latin1Of(head.subarray(0, 2)) === 'PK';
}

function refuseOthers(file: string, head: Uint8Array): void {
  const hex = hexOf(head.subarray(0, 4));
  for (const [magic, what] of OTHERS) if (hex.startsWith(magic)) throw errorOf(file, what);
  if (encodingOfHead(head) === null && head.includes(0)) {
    throw errorOf(file, {
      en: 'it is neither text nor an XLSX file',
      es: 'no es ni texto ni un archivo XLSX',
      pt: 'não é nem texto nem um arquivo XLSX',
    });
  }
}

/** JSON begins with a bracket. A file whose first line is a whole object, but not the root, is JSONL. */
async function formatOf(file: string, head: Uint8Array, encoding: Encoding): Promise<Format> {
  const text = (await decodedHead(file, head, encoding)).trimStart();
  if (text === '') throw onlyEmptyLines(file);
  for (const [beginning, what] of MARKUP) {
    if (beginning.test(text)) throw errorOf(file, what);
  }
  if (text.startsWith('[')) return 'JSON';
  if (!text.startsWith('{')) return 'CSV';
  const [line = ''] = text.split('\n', 1);
  const first = parseObject(line.trim());
  if (first === undefined) return extensionOf(file).toLowerCase().endsWith('l') ? 'JSONL' : 'JSON';
  return 'applications' in first || 'aplicaciones' in first ? 'JSON' : 'JSONL';
}

async function decodedHead(file: string, head: Uint8Array, encoding: Encoding): Promise<string> {
  // `stream` is set, because the head may end in the middle of a character.
  if (encoding.startsWith('UTF-16')) return new TextDecoder(encoding).decode(head, { stream: true });
  let text = '';
  async function* once() {
    yield head;
  }
  for await (const piece of asUtf8(file, once(), encoding)) text += textOfUtf8(piece);
  return text;
}

function parseObject(text: string): object | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function disagreement(file: string, format: Format): FileWords | null {
  const extension = extensionOf(file);
  const promised = EXTENSIONS[extension.toLowerCase()];
  if (promised === undefined || promised.includes(format)) return null;
  return {
    en: `its name ends in ${extension}, but by its content it is ${format}: it is read as ${format}`,
    es: `su nombre termina en ${extension}, pero por su contenido es ${format}: se lee como ${format}`,
    pt: `o nome termina em ${extension}, mas pelo conteúdo é ${format}: é lido como ${format}`,
  };
}

/** `.csv`, as the name has it; empty where a name has no point, or begins with its only one. */
function extensionOf(file: string): string {
  return /(?<!^)\.[^.]*$/.exec(file)?.[0] ?? '';
}
