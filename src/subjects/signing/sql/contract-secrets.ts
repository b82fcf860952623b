/**
 * The secrets of the PDFs. Each contract has a random secret of its own, which lies sealed in its row: so a reseal
 * touches rows alone, and a PDF whose row is gone cannot be read, wherever a copy of it lies.
 */

import type { Vault } from '../../../seal/vault.ts';
import { newFileSecret } from '../../documents/store/sealed-file.ts';

/** A new secret, and the secret as the row keeps it. The key of the shown PDF names the contract. */
export function newSecret(
  vault: Vault,
  shownKey: string,
): { readonly secret: Buffer; readonly sealed: Buffer } {
  const secret = newFileSecret();
  return { secret, sealed: vault.seal(secret, secretIdentity(shownKey)) };
}

/** The secret of a row. Throws as `Vault.open` does. */
export function openSecret(
  vault: Vault,
  { shownKey, sealed }: { readonly shownKey: string; readonly sealed: Buffer },
): Buffer {
  return vault.open(sealed, secretIdentity(shownKey));
}

/** What the secret of a contract is sealed under. */
export function secretIdentity(shownKey: string): string {
  return `contract:${shownKey}`;
}
