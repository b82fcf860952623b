/** Reads the parts of an XLSX file (a zip archive) as streams, with bounds against harmful archives. */
import { type Entry, open, type ZipFile } from 'yauzl';
import { BulkError } from '../bulk-error.ts';
import type { Inspected } from '../inspect.ts';

const MAX_PARTS = 10_000;
/** Deflate shrinks a million equal rows about a hundredfold, and a bomb a thousandfold. */
const MAX_RATIO = 250;
/** A part up to this size does no harm, whatever its ratio. */
const HARMLESS_BYTES = 16 * 1024 * 1024;
const MAX_BYTES = 8 * 1024 ** 3;

/** An open archive. */
export interface Archive {
  /** The bytes of a part; null where the archive has no such part. Throws `BulkError` for more than `maxBytes`. */
  part(name: string, maxBytes?: number): Promise<AsyncIterable<Buffer> | null>;
  /** True where the archive has the part. */
  has(name: string): boolean;
  close(): void;
}

/** Reads the archive's directory. Throws `BulkError` where it is damaged. */
export async function openArchive({ path, file }: Inspected): Promise<Archive> {
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    open(path, { lazyEntries: true, autoClose: false }, (error, opened) =>
      error ? reject(damaged(file)) : resolve(opened),
    );
  });
  try {
    const entries = await entriesOf(zip, file);
    return {
      close: () => zip.close(),
      has: (name) => entries.has(name.toLowerCase()),
      async part(name, maxBytes = MAX_BYTES) {
        const entry = entries.get(name.toLowerCase());
        if (entry === undefined) return null;
        const { uncompressedSize, compressedSize } = entry;
        const bomb = uncompressedSize > HARMLESS_BYTES && uncompressedSize > MAX_RATIO * compressedSize;
        if (bomb || uncompressedSize > maxBytes) {
          throw new BulkError(
            `${file}: its part ${name} unpacks to ${uncompressedSize} bytes, more than a list of applicants` +
              ' needs, so it is not opened. Save the table as CSV, or in several files',
          );
        }
        return bytesOf(zip, entry, file);
      },
    };
  } catch (error) {
    zip.close();
    throw error;
  }
}

function entriesOf(zip: ZipFile, file: string): Promise<Map<string, Entry>> {
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>();
    if (zip.entryCount > MAX_PARTS)
      return reject(new BulkError(`${file}: it has more than ${MAX_PARTS} parts`));
    zip.on('entry', (entry: Entry) => {
      entries.set(entry.fileName.toLowerCase(), entry);
      zip.readEntry();
    });
    zip.once('end', () => resolve(entries));
    zip.once('error', () => reject(damaged(file)));
    zip.readEntry();
  });
}

/** The library refuses a part that unpacks to more bytes than the directory says. */
async function* bytesOf(zip: ZipFile, entry: Entry, file: string): AsyncGenerator<Buffer> {
  const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
    zip.openReadStream(entry, (error, opened) => (error ? reject(damaged(file)) : resolve(opened)));
  });
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch {
    throw damaged(file);
  }
}

function damaged(file: string): BulkError {
  return new BulkError(`${file}: it is damaged or cut off, and cannot be opened as XLSX. Save it again`);
}
