/** Removes old and unfinished backups of a place (docs/backup.md; BACKUP_KEEP). Reads and writes the place. */
import type { Place } from '../../ground/places/place.ts';
import { finishedBackups } from './manifest.ts';
import { backupsOf, manifestName, namesOfBackups } from './names.ts';
import type { BackupKey } from './sealed.ts';

/**
 * Removes the oldest finished backups, so that `keep` readable ones stay, and all newer ones. Returns the names of the
 * removed ones.
 */
export async function removeOld(place: Place, key: BackupKey, keep: number): Promise<string[]> {
  const old: string[] = [];
  let kept = 0;
  for await (const backup of finishedBackups(place, key)) {
    if (kept === keep) old.push(backup.name);
    else if ('manifest' in backup) kept += 1;
  }
  for (const name of old) {
    // Without its manifest the rest is not a backup any more, even if the process dies now.
    await place.remove(manifestName(name));
    await place.clear(name);
  }
  return old;
}

/** Removes what backups left that were never finished. Only the process that makes a backup may do so. */
export async function removeUnfinished(place: Place): Promise<void> {
  const names = await namesOfBackups(place);
  for (const name of backupsOf(names)) {
    if (!names.includes(manifestName(name))) await place.clear(name);
  }
}
