/** Puts the archived log back into files, as PostgreSQL has them in `pg_wal` (README.md). Writes these files. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAt } from '../../../ground/embedded/write-at.ts';
import type { Place } from '../../../ground/places/place.ts';
import { BackupError } from '../errors.ts';
import type { Piece } from '../names.ts';
import type { BackupKey } from '../sealed.ts';
import { SEGMENT_BYTES, segmentName, segmentStart } from './lsn.ts';

/**
 * Writes the pieces into the files of the log; each piece belongs to one file. Pieces may overlap: then both have the
 * same bytes.
 */
export async function placeLog(
  { place, key }: { readonly place: Place; readonly key: BackupKey },
  pieces: Iterable<Piece>,
  timeline: number,
  folder: string,
): Promise<void> {
  for (const { name, from, to } of pieces) {
    const object = await place.get(name);
    if (object === undefined)
      throw new BackupError(`${name} is missing in ${place.address}: use another backup`);
    const bytes = await key.open(name, object);
    if (BigInt(bytes.length) !== to - from) {
      throw new BackupError(`${name} is not as long as its name says: use another backup`);
    }
    const path = join(folder, segmentName(timeline, from));
    const file = await open(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
    try {
      await writeAt(file, bytes, Number(from - segmentStart(from)));
      // PostgreSQL takes only whole files, so the rest is filled with zeros.
      const { size } = await file.stat();
      if (size < SEGMENT_BYTES) await file.truncate(Number(SEGMENT_BYTES));
    } finally {
      await file.close();
    }
  }
}
