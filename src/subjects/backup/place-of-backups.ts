/**
 * Opens the place of the backups, with its words for errors and the bound of its objects (docs/backup.md).
 * `ground/places` has the places.
 */
import type { Clock } from '../../ground/base/clock.ts';
import { openPlace } from '../../ground/places/open-place.ts';
import type { Place, PlaceUse } from '../../ground/places/place.ts';
import type { S3Account } from '../../ground/places/s3.ts';
import { BackupError, UnreadableBackupError } from './errors.ts';

/** A file of the write-ahead log has 16 MiB, and its sealed form little more. */
export const MOST_OBJECT_BYTES = 20 * 1024 * 1024;

/** How a backup uses a place. */
export const BACKUPS: PlaceUse = {
  name: 'the place of the backups',
  purpose: 'backups',
  object: 'part of a backup',
  advice: 'use another backup',
  mostBytes: MOST_OBJECT_BYTES,
  failure: (text, cause) => new BackupError(text, { cause }),
  unreadable: (text) => new UnreadableBackupError(text),
};

/** The largest file of a document is 100 MB (`DOCUMENT_MOST_MB`), and its sealed form little more. */
const FILES: PlaceUse = { ...BACKUPS, object: 'file of a document', mostBytes: 103 * 1024 * 1024 };

/** The same place for the files of documents and contracts. Throws `BackupError`. */
export function openFilePlace(address: string, account: S3Account | null, clock: Clock): Promise<Place> {
  return openPlace(address, account, FILES, clock);
}

/** The place of an address, as `openPlace` does. Throws `BackupError`. */
export function openBackupPlace(address: string, account: S3Account | null, clock: Clock): Promise<Place> {
  return openPlace(address, account, BACKUPS, clock);
}
