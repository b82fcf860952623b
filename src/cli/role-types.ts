/** The roles that commands start. The composition root provides them. */
import type { EndpointHosts } from '../domain/partner/endpoint-url.ts';
import type { OperatorContext } from '../usecases/operator-context.ts';

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
  /** Opens the store for one command and closes it. Starts the embedded server if it does not run. */
  operate<T>(work: (context: OperatorContext) => Promise<T>): Promise<T>;
  /** Hosts of partners' endpoints that may be private or without TLS. */
  endpointHosts(): Promise<EndpointHosts>;
}
