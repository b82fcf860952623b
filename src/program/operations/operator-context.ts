/** What an operator's command needs. */
import type { Clock } from '../../ground/base/clock.ts';
import { ToldError } from '../../ground/base/told-error.ts';
import type { Database } from '../../ground/postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';

export interface OperatorContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  /** Who acts, for the history (D34): the name that the operator gave, or the operating system's user. */
  readonly actor: string;
}

/** A database that a command only looks at, or the reason why it does not answer. */
export type StoreView =
  | {
      readonly database: Database;
      /** Where the store is. */
      readonly place: string;
      /** How the tables fit this version: why it does not work on them, or null; and the migrations that they lack. */
      schema(): Promise<{
        readonly fault: string | null;
        readonly pending: readonly { readonly name: string }[];
      }>;
      /** What is wrong with the role of the sessions, whose tables fit; null: nothing. */
      roleFault(): Promise<string | null>;
    }
  | { readonly unreachable: string };

/** The request cannot be carried out; operators read the message as it is. */
export class OperatorError extends ToldError {
  override readonly name = 'OperatorError';
}
