/** What commands need of the composition root. */
import type { ReadSetting, Setting } from '../../ground/base/setting.ts';
import type { OperatorContext, StoreView } from '../operations/operator-context.ts';

export interface Roles {
  /**
   * Opens the store for one command and closes it. Starts the embedded server if it does not run. `unchecked`: whatever
   * the secrets of the command are.
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
