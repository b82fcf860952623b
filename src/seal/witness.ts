/**
 * The evidence of a secret: which stored data depends on it. Each subject brings witnesses of its own data, so that
 * `secrets.ts` knows no subject.
 */
import type pg from 'pg';
import type { Transaction } from '../postgres/database.ts';
import type { Vault } from './vault.ts';

/** Tells whether there is stored data that depends on a key. */
export type Witness = (session: Transaction) => Promise<boolean>;

/** A search for data that one data key has sealed. */
export interface SealedSearch {
  readonly session: Transaction;
  /** The first byte of all data that the key has sealed. */
  readonly keyByte: Buffer;
  /** Runs a statement, within the time that is left for the whole search. */
  readonly rows: <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]) => Promise<Row[]>;
}

/** Opens sealed data with a vault. Throws where the vault has another key. */
export type Opening = (vault: Vault) => unknown;

/** Finds data of one kind that a data key has sealed. The search stops as soon as there are enough samples. */
type SealedWitness = (search: SealedSearch) => AsyncIterable<Opening>;

/** The witnesses of all subjects. */
export interface Witnesses {
  readonly indexKey: readonly Witness[];
  readonly apiKeyPepper: readonly Witness[];
  /** In the order of the search. */
  readonly dataKeys: readonly SealedWitness[];
}
