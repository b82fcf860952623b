/** Reads the parts of an XLSX file (a zip archive) as streams, with bounds against harmful archives. */
import { close, open, read } from 'node:fs';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { type Entry, fromRandomAccessReader, RandomAccessReader, type ZipFile } from 'yauzl';
import { BulkError } from '../bulk-error.ts';
import type { Inspected } from '../inspect.ts';

const MAX_PARTS = 10_000;
/** Deflate shrinks a million equal rows about a hundredfold, and a bomb a thousandfold. */
const MAX_RATIO = 250;
/** A part up to this size does no harm, whatever its ratio. */
const HARMLESS_BYTES = 16 * 1024 * 1024;
const MAX_BYTES = 8 * 1024 ** 3;

/** The record that ends an archive: its signature, its length without the comment, and where it says the comment's. */
const END = Buffer.from('PK\x05\x06');
const END_BYTES = 22;
const COMMENT_LENGTH_AT = 20;
/** The record is looked for so far from the end of the file: behind it may be its comment, and bytes of no meaning. */
const TAIL_BYTES = 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

/** An open archive. */
export interface Archive {
  /** The bytes of a part; null where the archive has no such part. Throws `BulkError` for more than `maxBytes`. */
  part(name: string, maxBytes?: number): Promise<AsyncIterable<Buffer> | null>;
  /** True where the archive has the part. */
  has(name: string): boolean;
  close(): void;
}

/** Reads the archive's directory. Throws `BulkError` where it is damaged. */
export async function openArchive({ path, file, size }: Inspected): Promise<Archive> {
  const zip = await openZip(path, size).catch(() => {
    throw damaged(file);
  });
  try {
    const entries = await entriesOf(zip, file);
    return {
      close: () => zip.close(),
      has: (name) => entries.has(keyOf(name)),
      async part(name, maxBytes = MAX_BYTES) {
        const entry = entries.get(keyOf(name));
        if (entry === undefined) return null;
        // Nobody knows which one of the two a spreadsheet shows.
        if (entry === 'twice') throw damaged(file);
        const { uncompressedSize, compressedSize } = entry;
        const bomb = uncompressedSize > HARMLESS_BYTES && uncompressedSize > MAX_RATIO * compressedSize;
        if (bomb || uncompressedSize > maxBytes) {
          throw new BulkError({
            en: `${file}: its part ${name} unpacks to ${uncompressedSize} bytes, more than a list of applicants needs, so it is not opened. Save the table as CSV, or in several files`,
            es: `${file}: su parte ${name} ocupa ${uncompressedSize} bytes al descomprimirla, más de lo que necesita una lista de solicitantes, y por eso no se abre. Guarda la tabla como CSV o en varios archivos`,
          });
        }
        return bytesOf(zip, entry, file);
      },
    };
  } catch (error) {
    zip.close();
    throw error;
  }
}

/** Reads a file for the library, up to the end of the archive. */
class FileReader extends RandomAccessReader {
  readonly #fd: number;
  constructor(fd: number) {
    super();
    this.#fd = fd;
  }

  override createReadStream({ start, end }: { start: number; end: number }): Readable {
    return Readable.from(bytesBetween(this.#fd, start, end), { objectMode: false });
  }

  override read(...args: Parameters<RandomAccessReader['read']>): void {
    read(this.#fd, ...args);
  }

  override close(callback: (error: Error | null) => void): void {
    close(this.#fd, callback);
  }
}

/** The platform's own stream would close the file with the first part. */
async function* bytesBetween(fd: number, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end; ) {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, end - at));
    const { bytesRead } = await promisify(read)(fd, piece, 0, piece.length, at);
    if (bytesRead === 0) return;
    yield piece.subarray(0, bytesRead);
    at += bytesRead;
  }
}

async function openZip(path: string, size: number): Promise<ZipFile> {
  const fd = await promisify(open)(path, 'r');
  try {
    const end = await endOfArchive(fd, size);
    return await new Promise<ZipFile>((resolve, reject) => {
      const options = { lazyEntries: true, autoClose: false };
      fromRandomAccessReader(new FileReader(fd), end, options, (error, zip) =>
        error ? reject(error) : resolve(zip),
      );
    });
  } catch (error) {
    await promisify(close)(fd);
    throw error;
  }
}

/** Some programs and some servers write bytes behind the archive, which the library would take for damage. */
async function endOfArchive(fd: number, size: number): Promise<number> {
  const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
  await promisify(read)(fd, tail, 0, tail.length, size - tail.length);
  const at = tail.lastIndexOf(END);
  if (at < 0 || at + END_BYTES > tail.length) throw new Error('the archive has no end');
  return size - tail.length + at + END_BYTES + tail.readUInt16LE(at + COMMENT_LENGTH_AT);
}

function entriesOf(zip: ZipFile, file: string): Promise<Map<string, Entry | 'twice'>> {
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry | 'twice'>();
    if (zip.entryCount > MAX_PARTS) {
      const en = `${file}: it has more than ${MAX_PARTS} parts`;
      return reject(new BulkError({ en, es: `${file}: tiene más de ${MAX_PARTS} partes` }));
    }
    zip.on('entry', (entry: Entry) => {
      const key = keyOf(entry.fileName);
      entries.set(key, entries.has(key) ? 'twice' : entry);
      zip.readEntry();
    });
    zip.once('end', () => resolve(entries));
    zip.once('error', () => reject(damaged(file)));
    zip.readEntry();
  });
}

/** Parts have their names in any capitalisation (ECMA-376, part 2, 6.2.2.3), plain or percent-encoded. */
function keyOf(name: string): string {
  try {
    return decodeURIComponent(name).toLowerCase();
  } catch {
    return name.toLowerCase();
  }
}

/** The library refuses a part that unpacks to more bytes than the directory says, and does not look at the checksum. */
async function* bytesOf(zip: ZipFile, entry: Entry, file: string): AsyncGenerator<Buffer> {
  const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
    zip.openReadStream(entry, (error, opened) => (error ? reject(damaged(file)) : resolve(opened)));
  });
  let checksum = 0;
  try {
    for await (const chunk of stream) {
      checksum = crc32(chunk, checksum);
      yield chunk as Buffer;
    }
  } catch {
    throw damaged(file);
  }
  if (checksum !== entry.crc32) throw damaged(file);
}

function damaged(file: string): BulkError {
  return new BulkError({
    en: `${file}: it is damaged or cut off, and cannot be opened as XLSX. Save it again`,
    es: `${file}: está dañado o incompleto y no se puede abrir como XLSX. Guárdalo de nuevo`,
  });
}
