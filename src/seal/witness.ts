/**
 * What a subject says about the stored data that depends on a secret, so that `secrets.ts` and `vault` know no subject.
 * Types alone. docs/keys.md has the rule.
 */
import type pg from 'pg';
import type { Database, Transaction } from '../ground/postgres/database.ts';
import type { Reindexing } from './reindex.ts';
import type { Vault } from './vault.ts';

/** Tells whether there is stored data that depends on a key. */
export type Witness = (session: Transaction) => Promise<boolean>;

/** Finds the ids of API keys that are live and were hashed with none of the peppers with these fingerprints. */
type PepperWitness = (session: Transaction, pepperIds: readonly string[]) => Promise<readonly number[]>;

/** A search for data that one data key has sealed. */
export interface SealedSearch {
  readonly session: Transaction;
  /** The first byte of all data that the key has sealed. */
  readonly keyByte: Buffer;
  /** Runs a statement, within the time that is left for the whole search. */
  readonly rows: <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]) => Promise<Row[]>;
}

/** Opens sealed data with a vault. Throws if the vault has another key. */
export type Opening = (vault: Vault) => unknown;

/** Finds data of one kind that a data key has sealed. The search stops as soon as there are enough samples. */
type SealedWitness = (search: SealedSearch) => AsyncIterable<Opening>;

/** Which rows a data key has sealed. */
export interface SealedRows {
  /** Rows that nobody can read without the key. */
  readonly needing: number;
  /** Rows that name the key and do not open with it: they are damaged, and the key does not help. */
  readonly damaged: number;
}

/** What one step of a reseal did. */
export interface ResealStep {
  /** Where the next step begins; null: the step was the last one of its kind. */
  readonly next: string | null;
  readonly resealed: number;
  /** Rows that stay as they are, because they do not open. */
  readonly unopened: number;
  /** How many applications the resealed values are about: the measure of the work. */
  readonly applications: number;
}

/** Sealed values of one kind: all values that data keys seal are of some kind. */
export interface SealedKind {
  /** In the plural: `envelopes`. */
  readonly name: string;
  readonly find: SealedWitness;
  /** Counts the rows of a data key. If the vault lacks the key, no row counts as damaged. */
  readonly rowsOf: (database: Database, vault: Vault, keyId: number) => Promise<SealedRows>;
  /**
   * Seals a bounded number of values again with the vault's first key, from the place `from` on; the empty text is the
   * beginning. A value that another process changes meanwhile stays as that process sealed it.
   */
  readonly reseal: (database: Database, vault: Vault, from: string) => Promise<ResealStep>;
}

/** The witnesses of all subjects. */
export interface Witnesses {
  readonly indexKey: readonly Witness[];
  readonly apiKeyPepper: readonly PepperWitness[];
  /** Make the stored blind indexes again. */
  readonly reindexings: readonly Reindexing[];
  /** In the order of the search. */
  readonly dataKeys: readonly SealedKind[];
}
