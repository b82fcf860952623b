/** What an operator's command needs. */
import type { Database } from '../storage/database.ts';
import type { Vault } from '../storage/vault.ts';

export interface OperatorContext {
  readonly database: Database;
  readonly vault: Vault;
  /** The operating system's user, for the history. */
  readonly actor: string;
}

/** The request cannot be carried out; operators read the message as it is. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
