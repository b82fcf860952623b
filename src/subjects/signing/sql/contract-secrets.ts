/**
 * The secrets that seal the PDFs of contracts. Each contract has a random secret, which its row in `loan_contracts`
 * keeps sealed by the data key. So a reseal changes rows and no files, and a PDF without its row cannot be read,
 * wherever a copy lies (docs/signing.md, "The contract").
 */

import type { Vault } from '../../../seal/vault.ts';
import { newFileSecret } from '../../documents/store/sealed-file.ts';

/** A new secret, and the sealed form for the row. The key of the shown PDF names the contract. */
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

/** The identity that the secret of a contract is sealed under. */
export function secretIdentity(shownKey: string): string {
  return `contract:${shownKey}`;
}
