/**
 * The keys that chain the record of operators' acts, made from the vault's INDEX_KEY (docs/audit.md, "The chain").
 * Pure.
 */
import { createHmac } from 'node:crypto';
import type { Vault } from '../../seal/vault.ts';

const LABEL = 'ventanilla operator events';

/** Makes the chain's MACs. */
export interface ChainKeys {
  /** The number of the key of new rows; the oldest key has 0. */
  readonly newest: number;
  /** HMAC-SHA-256 (32 bytes) of the previous MAC and a text; null if this process has no such key. */
  mac(keyNumber: number, before: Buffer, text: string): Buffer | null;
}

/** The keys made from the vault's INDEX_KEY. All of its keys stay for ever, so old rows can be verified. */
export function chainKeysOf(vault: Vault): ChainKeys {
  const keys = vault.derivedKeys(LABEL);
  return {
    newest: keys.length - 1,
    mac: (keyNumber, before, text) => {
      const key = keys[keyNumber];
      return key === undefined ? null : createHmac('sha256', key).update(before).update(text).digest();
    },
  };
}
