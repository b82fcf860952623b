/**
 * What an operator's command gets: the store, the clock, and who acts. Also the rule of the reason that an operator
 * gives (D34). Pure; docs/audit.md has the rule.
 */
import type { Clock } from '../../ground/base/clock.ts';
import { readableText } from '../../ground/base/plain-text.ts';
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

/** A database that a command only reads, or the reason why it does not answer. */
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
  /** Why, for programs; `not_found`: there is no such thing; null: what was given breaks its rule. */
  readonly code: string | null;

  constructor(message: string, code: string | null = null) {
    super(message);
    this.code = code;
  }
}

// The second part: the reason that an operator gives, as the history and the record of acts keep it (D34).

const MAX_LENGTH = 500;

/** The trimmed reason: one line of 1 to 500 code points by the rule of `readableText`. Throws `OperatorError`. */
export function checkReason(reason: string): string {
  const why = readableText(reason, MAX_LENGTH);
  if (why !== null) return why;
  throw new OperatorError(
    `the reason must be one line of 1 to ${MAX_LENGTH} characters without invisible ones: it goes into the history`,
  );
}
