/** What an operator's command works with. */
import type { Database } from '../storage/database.ts';
import type { Vault } from '../storage/vault.ts';

export interface OperatorContext {
  readonly database: Database;
  readonly vault: Vault;
  /** Who acts, for the history: the operating system's user. */
  readonly actor: string;
}

/** What was asked for cannot be done, and why; shown to the operator as it is. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
