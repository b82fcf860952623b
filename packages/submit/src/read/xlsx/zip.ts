/** Reads the parts of an XLSX file (a zip archive) as streams, with bounds against harmful archives. */
import { BulkError } from '../bulk-error.ts';
import { type ByteSource, bytesBetween, type OpenBytes } from '../byte-source.ts';
import { latin1Of, textOfUtf8 } from '../bytes.ts';
import { decodeCodePage } from '../encoding/encoding.ts';
import type { Inspected } from '../inspect.ts';

const MAX_PARTS = 10_000;
/** Deflate shrinks a million equal rows about a hundredfold, and a bomb a thousandfold. */
const MAX_RATIO = 250;
/** A part up to this size does no harm, whatever its ratio. */
const HARMLESS_BYTES = 16 * 1024 * 1024;
const MAX_BYTES = 8 * 1024 ** 3;
/** A page works on such a piece without a pause, and unpacked it is several times as large. */
const PIECE_BYTES = 16 * 1024;

/** An open archive. */
export interface Archive {
  /** The bytes of a part; null where the archive has no such part. Throws `BulkError` for more than `maxBytes`. */
  part(name: string, maxBytes?: number): Promise<AsyncIterable<Uint8Array> | null>;
  /** True where the archive has the part. */
  has(name: string): boolean;
  close(): Promise<void>;
}

/** Reads the archive's directory. Throws `BulkError` where it is damaged. */
export async function openArchive({ bytes: source, file }: Inspected): Promise<Archive> {
  const bytes = await source.open();
  try {
    const entries = await entriesOf(bytes, source.size, file);
    return {
      close: () => bytes.close(),
      has: (name) => entries.has(keyOf(name)),
      async part(name, maxBytes = MAX_BYTES) {
        const entry = entries.get(keyOf(name));
        if (entry === undefined) return null;
        // Nobody knows which one of the two a spreadsheet shows.
        if (entry === 'twice') throw damaged(file);
        const { unpacked, packed } = entry;
        if ((unpacked > HARMLESS_BYTES && unpacked > MAX_RATIO * packed) || unpacked > maxBytes) {
          throw new BulkError({
            en: `${file}: its part ${name} unpacks to ${unpacked} bytes, more than a list of applicants needs, so it is not opened. Save the table as CSV, or in several files`,
            es: `${file}: su parte ${name} ocupa ${unpacked} bytes al descomprimirla, más de lo que necesita una lista de solicitantes, y por eso no se abre. Guarda la tabla como CSV o en varios archivos`,
            pt: `${file}: a parte ${name} ocupa ${unpacked} bytes descompactada, mais do que uma lista de solicitantes precisa, e por isso não é aberta. Salve a tabela como CSV ou em vários arquivos`,
          });
        }
        return bytesOf(source, bytes, entry, file);
      },
    };
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

// The directory of an archive (APPNOTE.TXT of ZIP, 4.3). It stands at the end, and its last record leads to it.

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
/** The record is looked for so far from the end of the file: behind it may be its comment, and bytes of no meaning. */
const TAIL_BYTES = 1024 * 1024;
const LOCATOR_64 = 0x07064b50;
const LOCATOR_64_BYTES = 20;
const END_64 = 0x06064b50;
const END_64_BYTES = 56;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;
/** In place of a larger number, which stands in the entry's extra field. */
const IN_EXTRA = 0xffffffff;
const EXTRA_64 = 1;
/** So many parts with names as long as XLSX has them. */
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024;
const ENCRYPTED = 0x01;
const STRONGLY_ENCRYPTED = 0x40;
const NAME_IN_UTF8 = 0x800;
const STORED = 0;
const DEFLATED = 8;

/** A part, as the directory tells it. */
interface Entry {
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  readonly packed: number;
  readonly unpacked: number;
  /** Where its own header begins. */
  readonly at: number;
  /** The end of the archive. */
  readonly end: number;
}

interface Directory {
  readonly count: number;
  readonly at: number;
  readonly end: number;
}

/** Something in the archive that cannot be. The text is for nobody: people are told that it is damaged. */
class Damage extends Error {}

async function entriesOf(
  bytes: OpenBytes,
  size: number,
  file: string,
): Promise<Map<string, Entry | 'twice'>> {
  try {
    const directory = await directoryOf(bytes, size);
    if (directory.count > MAX_PARTS) {
      const en = `${file}: it has more than ${MAX_PARTS} parts`;
      throw new BulkError({
        en,
        es: `${file}: tiene más de ${MAX_PARTS} partes`,
        pt: `${file}: tem mais de ${MAX_PARTS} partes`,
      });
    }
    return await entriesIn(bytes, directory);
  } catch (error) {
    // A `DataView` throws a `RangeError` beyond its end.
    throw error instanceof Damage || error instanceof RangeError ? damaged(file) : error;
  }
}

async function directoryOf(bytes: OpenBytes, size: number): Promise<Directory> {
  const start = Math.max(0, size - TAIL_BYTES);
  const tail = viewOf(await bytes.read(start, size - start));
  let at = tail.byteLength - END_BYTES;
  while (at >= 0 && tail.getUint32(at, true) !== END_SIGNATURE) at -= 1;
  if (at < 0) throw new Damage('the archive has no end');
  const end = start + at + END_BYTES + tail.getUint16(at + 20, true);
  if (end > size) throw new Damage('the comment is cut off');
  const is64 = at >= LOCATOR_64_BYTES && tail.getUint32(at - LOCATOR_64_BYTES, true) === LOCATOR_64;
  if (is64) return directory64(bytes, longAt(tail, at - LOCATOR_64_BYTES + 8), end);
  if (tail.getUint16(at + 4, true) !== 0) throw new Damage('several disks');
  return { count: tail.getUint16(at + 10, true), at: tail.getUint32(at + 16, true), end };
}

async function directory64(bytes: OpenBytes, at: number, end: number): Promise<Directory> {
  const record = viewOf(await bytes.read(at, END_64_BYTES));
  if (record.getUint32(0, true) !== END_64 || record.getUint32(16, true) !== 0)
    throw new Damage('no end of a large archive');
  return { count: longAt(record, 32), at: longAt(record, 48), end };
}

async function entriesIn(bytes: OpenBytes, { count, at: start, end }: Directory) {
  const entries = new Map<string, Entry | 'twice'>();
  const directory = await bytes.read(start, Math.max(0, Math.min(end - start, MAX_DIRECTORY_BYTES)));
  const view = viewOf(directory);
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    if (view.getUint32(at, true) !== ENTRY) throw new Damage('no entry');
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((place) =>
      view.getUint16(at + place, true),
    ) as [number, number, number];
    const name = at + ENTRY_BYTES;
    const extra = name + nameBytes;
    const next = extra + extraBytes + commentBytes;
    if (next > directory.length) throw new Damage('an entry is cut off');
    const entry = entryAt(view, at, new DataView(view.buffer, view.byteOffset + extra, extraBytes), end);
    const key = keyOf(nameOf(directory.subarray(name, extra), entry.flags));
    entries.set(key, entries.has(key) ? 'twice' : entry);
    at = next;
  }
  return entries;
}

function entryAt(view: DataView, at: number, extra: DataView, end: number): Entry {
  const flags = view.getUint16(at + 8, true);
  const method = view.getUint16(at + 10, true);
  const larger = largerNumbers(extra);
  const number = (place: number) => {
    const short = view.getUint32(at + place, true);
    return short === IN_EXTRA && larger !== null ? larger() : short;
  };
  // In the order of the extra field.
  const unpacked = number(24);
  const packed = number(20);
  const header = number(42);
  if (flags & STRONGLY_ENCRYPTED) throw new Damage('an entry is encrypted');
  if (method === STORED && packed !== unpacked + (flags & ENCRYPTED ? 12 : 0))
    throw new Damage('a stored part has two sizes');
  return { flags, method, crc32: view.getUint32(at + 16, true), packed, unpacked, at: header, end };
}

/** Gives the numbers of 64 bits of an extra field, one after the other; null where it has none. */
function largerNumbers(extra: DataView): (() => number) | null {
  let found: (() => number) | null = null;
  for (let at = 0; at + 4 <= extra.byteLength; ) {
    const [id, length] = [extra.getUint16(at, true), extra.getUint16(at + 2, true)];
    const data = new DataView(extra.buffer, extra.byteOffset + at + 4, length);
    if (at + 4 + length > extra.byteLength) throw new Damage('an extra field is cut off');
    let next = 0;
    if (id === EXTRA_64) {
      found ??= () => {
        next += 8;
        return longAt(data, next - 8);
      };
    }
    at += 4 + length;
  }
  return found;
}

function nameOf(bytes: Uint8Array, flags: number): string {
  const name = (
    flags & NAME_IN_UTF8 ? textOfUtf8(bytes) : decodeCodePage(latin1Of(bytes), 'cp437')
  ).replaceAll('\\', '/');
  if (/^(?:[a-zA-Z]:|\/)/.test(name) || name.split('/').includes('..'))
    throw new Damage('a name leads elsewhere');
  return name;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function longAt(view: DataView, at: number): number {
  return view.getUint32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
}

/** Parts have their names in any capitalisation (ECMA-376, part 2, 6.2.2.3), plain or percent-encoded. */
function keyOf(name: string): string {
  try {
    return decodeURIComponent(name).toLowerCase();
  } catch {
    return name.toLowerCase();
  }
}

/** The part, whole and with its checksum, or an error at its end. */
async function* bytesOf(
  source: ByteSource,
  bytes: OpenBytes,
  entry: Entry,
  file: string,
): AsyncGenerator<Uint8Array> {
  let [checksum, length] = [0, 0];
  try {
    for await (const piece of unpacked(source, bytes, entry)) {
      checksum = source.crc32(piece, checksum);
      length += piece.length;
      if (length > entry.unpacked) break;
      yield piece;
    }
  } catch {
    throw damaged(file);
  }
  if (checksum !== entry.crc32 || length !== entry.unpacked) throw damaged(file);
}

async function* unpacked(source: ByteSource, bytes: OpenBytes, entry: Entry): AsyncGenerator<Uint8Array> {
  const { flags, method, packed, at, end } = entry;
  const header = viewOf(await bytes.read(at, LOCAL_BYTES));
  const start = at + LOCAL_BYTES + header.getUint16(26, true) + header.getUint16(28, true);
  const isReadable = !(flags & ENCRYPTED) && (method === STORED || method === DEFLATED);
  if (header.getUint32(0, true) !== LOCAL || start + packed > end || !isReadable)
    throw new Damage('no such part');
  const pieces = bytesBetween(bytes, start, start + packed, PIECE_BYTES);
  yield* method === STORED ? pieces : source.inflate(pieces);
}

function damaged(file: string): BulkError {
  return new BulkError({
    en: `${file}: it is damaged or cut off, and cannot be opened as XLSX. Save it again`,
    es: `${file}: está dañado o incompleto y no se puede abrir como XLSX. Guárdalo de nuevo`,
    pt: `${file}: está danificado ou incompleto e não pode ser aberto como XLSX. Salve-o de novo`,
  });
}
