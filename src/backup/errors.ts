import { ToldError } from '../base/told-error.ts';

/** Something about a backup that operators can mend: the message is for them. */
export class BackupError extends ToldError {
  override readonly name = 'BackupError';
}
