/** The type of what the uses of contracts work with: database, vault, document store, terms, sealer and sender. */
import type { Logger } from 'pino';
import type { Terms } from '../../../domain/loan/terms.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { DocumentStore } from '../../documents/store/document-store.ts';
import type { Sealer } from '../pdf/seal.ts';
import type { CodeSender } from '../senders/code-sender.ts';

export interface SigningContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly store: Pick<DocumentStore, 'put' | 'get' | 'delete'>;
  readonly log: Pick<Logger, 'warn'>;
  /** null: there are no terms, so nobody gets a contract. */
  readonly terms: Terms | null;
  /** null: no certificate is set, so nobody gets a contract. */
  readonly sealer: Sealer | null;
  /** null: codes have no way. */
  readonly sender: CodeSender | null;
  /** The most codes to the phones of one country in an hour. */
  readonly codesAnHour: number;
}
