/**
 * What a service does for its backups by itself: bases and their log, erasures, files (docs/backup.md). Makes them from
 * the configuration; src/subjects/backup/schedule.ts has the rule of when.
 */
import type { Clock } from '../../ground/base/clock.ts';
import { toldBy } from '../../ground/base/told-error.ts';
import type { ServiceContext } from '../../program/subject/subject.ts';
import type { JobEnd } from '../../program/subject/watcher.ts';
import { BackupSchedule } from '../../subjects/backup/schedule.ts';
import type { Config } from '../config/config.ts';
import { ErasureCopies } from './erasures.ts';
import { FileCopies } from './file-copies.ts';
import { filePlace, placeAndKey } from './place.ts';

/** Monitoring knows it by this name: it is due once a day (`src/subjects/monitoring/rules/troubles.ts`). */
const BASE_BACKUP = 'base backup';

/** The backups that a service makes by itself; null if BACKUP_TO is not set. */
export async function backupSchedule(
  { backup, dataDir }: Config,
  { clock, log, failed, watcher }: Pick<ServiceContext, 'clock' | 'log' | 'failed' | 'watcher'>,
  onBackup: (backup: string) => Promise<void>,
): Promise<BackupSchedule | null> {
  if (backup.to === null) return null;
  const noteBase = (end: Omit<JobEnd, 'name'>) =>
    void watcher.kept([{ name: BASE_BACKUP, ...end }]).catch((error) => failed('noting a backup', error));
  return new BackupSchedule({
    clock,
    dataDir,
    ...(await placeAndKey(backup, undefined, clock)),
    keep: backup.keep,
    onCreated: (created) => {
      log.info(created, 'backup made');
      noteBase({ tookMs: created.seconds * 1000, succeeded: true, why: null });
      onBackup(created.name).catch((error) => failed('removing copies of files that no backup needs', error));
    },
    onError: (error) => {
      failed('backup', error);
      noteBase({ tookMs: 0, succeeded: false, why: toldBy(error) });
    },
  });
}

/** Makes what copies erasures of persons into the place; null if BACKUP_TO is not set. */
export async function erasureCopies({ backup }: Config, clock: Clock): Promise<ErasureCopies | null> {
  return backup.to === null ? null : new ErasureCopies(await placeAndKey(backup, undefined, clock));
}

/** Makes what copies the files of documents and contracts into the place; null if BACKUP_TO is not set. */
export async function fileCopies({ backup }: Config, clock: Clock): Promise<FileCopies | null> {
  return backup.to === null ? null : new FileCopies(await filePlace(backup, undefined, clock));
}
