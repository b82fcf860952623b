/** The errors of backups, whose messages operators read, and the sizes in their texts. Pure. */
import { ToldError } from '../../ground/base/told-error.ts';

/** A problem of a backup that operators can mend: the message is for them. */
export class BackupError extends ToldError {
  override readonly name: string = 'BackupError';
}

/**
 * A part of a backup is missing, cut off, changed, or made with another key: other backups of the place may be whole.
 */
export class UnreadableBackupError extends BackupError {
  override readonly name: string = 'UnreadableBackupError';
}

/** An object was made with another BACKUP_KEY. */
export class OtherBackupKeyError extends UnreadableBackupError {
  override readonly name = 'OtherBackupKeyError';
}

/** A size in MiB, rounded up, as the texts have it. */
export function inMiB(bytes: number): number {
  return Math.ceil(bytes / 1024 / 1024);
}
