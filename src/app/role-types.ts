/** The roles that the program can start, beside what its commands need. Types alone; `process-roles.ts` makes them. */
import type { Roles } from '../program/cli/role-types.ts';
import type { BackupActs } from '../subjects/backup/commands/backup.ts';

/** How the tables of the database fit this version. */
export interface Schema {
  /** Why this version does not work on them; null if it does. */
  readonly fault: string | null;
  /** The migrations that a start applies. */
  readonly pending: readonly { readonly name: string }[];
  /** True if processes of the previous version go on working meanwhile. */
  readonly isRolling: boolean;
}

export interface ProgramRoles extends Roles {
  /** Serves until the process is told to stop. */
  serve(): Promise<void>;
  /** Runs the background work until the process is told to stop. */
  worker(): Promise<void>;
  /**
   * Brings the database up to date, and with `distribute` spreads its tables over a Citus cluster. Resolves to the
   * names of the applied migrations, of the role that got privileges (null: it lacked none) and of the spread tables.
   */
  migrate(distribute: boolean): Promise<{ applied: string[]; granted: string | null; distributed: string[] }>;
  /** Compares the tables of the database with this version, and changes nothing. */
  schema(): Promise<Schema>;
  /** The work of the commands about backups. */
  backups(): Promise<BackupActs>;
}
