/** Opens the place of backups with its key, from the configuration (docs/backup.md). `ground/places` has the places. */
import type { Clock } from '../../ground/base/clock.ts';
import { BackupError } from '../../subjects/backup/errors.ts';
import type { FilePlace } from '../../subjects/backup/files.ts';
import { openBackupPlace, openFilePlace } from '../../subjects/backup/place-of-backups.ts';
import { BackupKey } from '../../subjects/backup/sealed.ts';
import type { Config } from '../config/config.ts';

/** The given place, or else that of BACKUP_TO. Throws `BackupError` if there is none, or no key. */
export async function placeAndKey(
  { to, key, s3 }: Config['backup'],
  given: string | undefined,
  clock: Clock,
) {
  const address = given ?? to;
  if (address === null) throw new BackupError('no place is given: name it, or set BACKUP_TO');
  if (key === null) throw new BackupError('BACKUP_KEY is not set: set the key of the backups');
  return { place: await openBackupPlace(address, s3, clock), key: new BackupKey(key) };
}

/** The same place for the files of documents and contracts. Throws as `placeAndKey`. */
export async function filePlace(
  backup: Config['backup'],
  given: string | undefined,
  clock: Clock,
): Promise<FilePlace> {
  const { place, key } = await placeAndKey(backup, given, clock);
  return { place: await openFilePlace(place.address, backup.s3, clock), key };
}
