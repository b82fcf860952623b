/** What an operator's command needs. */
import { ToldError } from '../base/told-error.ts';
import type { Database } from '../postgres/database.ts';
import type { Vault } from '../seal/vault.ts';

export interface OperatorContext {
  readonly database: Database;
  readonly vault: Vault;
  /** Who acts, for the history (D34): the name that the operator gave, or the operating system's user. */
  readonly actor: string;
}

/** The request cannot be carried out; operators read the message as it is. */
export class OperatorError extends ToldError {
  override readonly name = 'OperatorError';
}
