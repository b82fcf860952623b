/** What the commands start; the composition root provides it. */
import type { OperatorContext } from '../usecases/operator-context.ts';

export interface Roles {
  /** Serves until the process is told to stop. */
  serve(): Promise<void>;
  /** Runs the background work until the process is told to stop. */
  worker(): Promise<void>;
  /**
   * Brings the database up to date, and with `distribute` spreads its tables over a Citus cluster. The names of the
   * migrations that were applied and of the tables that were spread.
   */
  migrate(distribute: boolean): Promise<{ applied: string[]; distributed: string[] }>;
  /** Opens the store for one command (starting the embedded server if it does not run) and closes it. */
  operate<T>(work: (context: OperatorContext) => Promise<T>): Promise<T>;
}
