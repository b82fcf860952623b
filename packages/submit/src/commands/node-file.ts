/** A file on a disk, for the command line. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { crc32, createInflateRaw } from 'node:zlib';
import { inEach, type Words } from '../../../../src/ground/base/language.ts';
import { bulkErrorAt } from '../read/bulk-error.ts';
import type { ByteSource } from '../read/byte-source.ts';

const NOT_OPENED: Readonly<Record<string, Words>> = {
  ENOENT: { en: 'there is no such file', es: 'no existe ese archivo' },
  EACCES: { en: 'it may not be read', es: 'no hay permiso para leerlo' },
};
/** A larger file has rows enough to fill the memory with garbage. */
const LARGE_BYTES = 16 * 1024 * 1024;

/** The file as it is now. Throws `BulkError` where there is none. */
export async function nodeFile(path: string): Promise<ByteSource> {
  const file = basename(path);
  const stats = await statsOf(path);
  if (!stats.isFile())
    throw bulkErrorAt(file, null, null, { en: 'it is not a file', es: 'no es un archivo' });
  const { size } = stats;
  const mtime = new Date(Math.trunc(stats.mtimeMs));
  return {
    path,
    file,
    size,
    mtime,
    async open() {
      const handle = await openFile(path);
      return {
        async read(at, length) {
          const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, at);
          return buffer.subarray(0, bytesRead);
        },
        close: () => handle.close(),
      };
    },
    async isUnchanged() {
      const now = await stat(path).catch(() => null);
      return now !== null && now.size === size && Math.trunc(now.mtimeMs) === mtime.getTime();
    },
    sha256() {
      const hash = createHash('sha256');
      return {
        add: (bytes) => void hash.update(bytes),
        async end() {
          // The whole file was read once, and its rows come now.
          if (size > LARGE_BYTES) saveMemory();
          return hash.digest('hex');
        },
      };
    },
    // Who reads the stream gets its errors.
    inflate: (bytes) => pipeline(bytes, createInflateRaw(), () => {}),
    crc32,
  };
}

async function statsOf(path: string) {
  const handle = await openFile(path);
  try {
    return await handle.stat();
  } finally {
    await handle.close();
  }
}

/** A named pipe without a writer is opened too, where the plain way would wait for one. Windows has neither. */
const READ_WITHOUT_WAIT = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, READ_WITHOUT_WAIT);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw bulkErrorAt(basename(path), null, null, NOT_OPENED[`${code}`] ?? inEach(() => `${code}`));
  }
}

function saveMemory(): void {
  // Collects garbage early: half of the memory at nearly the same speed.
  setFlagsFromString('--optimize-for-size');
  // Otherwise V8 may take rows for objects that live long, at twice the CPU.
  setFlagsFromString('--no-allocation-site-pretenuring');
}
