/**
 * Packs parts of files into the volumes of a base backup, up to a size that one request can store, and unpacks them
 * (README.md). Writes files only when it unpacks.
 */
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { writeAt } from '../../../ground/embedded/write-at.ts';
import { BackupError } from '../errors.ts';
import type { FilePart } from './files.ts';

const VOLUME_BYTES = 8 * 1024 * 1024;

/** Packs parts into volumes of about 8 MiB. A part is the length of its head (4 bytes), its head in JSON, its bytes. */
export async function* packed(parts: AsyncIterable<FilePart>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let size = 0;
  for await (const part of parts) {
    const [about, bytes] =
      'folder' in part
        ? [{ folder: part.folder }, Buffer.alloc(0)]
        : [{ file: part.file, at: part.at, length: part.bytes.length }, part.bytes];
    const head = Buffer.from(JSON.stringify(about));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(head.length);
    pieces.push(length, head, bytes);
    size += length.length + head.length + bytes.length;
    if (size < VOLUME_BYTES) continue;
    yield Buffer.concat(pieces);
    pieces = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(pieces);
}

/** Writes the parts of a volume below `target`. */
export async function unpack(volume: Buffer, target: string): Promise<void> {
  for (let at = 0; at < volume.length; ) {
    const end = at + 4 + volume.readUInt32BE(at);
    const part = JSON.parse(volume.toString('utf8', at + 4, end)) as
      | { folder: string }
      | { file: string; at: number; length: number };
    at = end;
    if ('folder' in part) {
      await mkdir(inside(target, part.folder), { recursive: true, mode: 0o700 });
      continue;
    }
    const file = await open(inside(target, part.file), constants.O_WRONLY | constants.O_CREAT, 0o600);
    try {
      await writeAt(file, volume.subarray(at, at + part.length), part.at);
    } finally {
      await file.close();
    }
    at += part.length;
  }
}

function inside(target: string, path: string): string {
  const whole = join(target, path);
  if (normalize(whole).startsWith(`${normalize(target)}/`)) return whole;
  throw new BackupError(`the backup has a file outside of the store (${path}): use another backup`);
}
