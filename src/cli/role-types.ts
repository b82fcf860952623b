/** The roles that commands start. The composition root provides them. */
import type { EndpointHosts } from '../events/push/rules/endpoint-url.ts';
import type { OperatorContext } from '../operations/operator-context.ts';

/** How the tables of the database fit this version. */
export interface Schema {
  /** Why this version does not work on them; null where it does. */
  readonly fault: string | null;
  /** The migrations that a start applies. */
  readonly pending: readonly { readonly name: string }[];
  /** True where processes of the version before go on working meanwhile. */
  readonly isRolling: boolean;
}

export interface Roles {
  /** Serves until the process is told to stop. */
  serve(): Promise<void>;
  /** Runs the background work until the process is told to stop. */
  worker(): Promise<void>;
  /**
   * Brings the database up to date, and with `distribute` spreads its tables over a Citus cluster. Resolves to the
   * names of the applied migrations and of the spread tables.
   */
  migrate(distribute: boolean): Promise<{ applied: string[]; distributed: string[] }>;
  /** Compares the tables of the database with this version, and changes nothing. */
  schema(): Promise<Schema>;
  /** Opens the store for one command and closes it. Starts the embedded server if it does not run. */
  operate<T>(work: (context: OperatorContext) => Promise<T>): Promise<T>;
  /** Hosts of partners' endpoints that may be private or without TLS. */
  endpointHosts(): Promise<EndpointHosts>;
}
