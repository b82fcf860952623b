/**
 * What a command may do with the process's store, variables and backups; `app/process-roles.ts` does it. Types alone.
 */
import type { ReadSetting, Setting } from '../../ground/base/setting.ts';
import type { OperatorContext, StoreView } from '../operations/operator-context.ts';

export interface Roles {
  /**
   * Opens the store for one command and closes it. Starts the embedded server if it does not run. `unchecked`: does not
   * compare the command's secrets with those of the store.
   */
  operate<T>(work: (context: OperatorContext) => Promise<T>, secrets?: 'unchecked'): Promise<T>;
  /** Opens the database as it is, without a migration and without secrets, and closes it. */
  observe<T>(work: (view: StoreView) => Promise<T>): Promise<T>;
  /** Copies the erasures of persons into the place of the backups (BACKUP_TO), if there is one. */
  keepErasures(context: OperatorContext): Promise<void>;
  /** The value of a variable of the process. */
  setting<T>(setting: Setting<T>): Promise<T>;
  /** Reads the variables of the process, for what needs many of them. */
  settings(): Promise<ReadSetting>;
}
