/**
 * The secrets of the PDFs. Each contract has a random secret of its own, which lies sealed in its row: so a reseal
 * touches rows alone, and a PDF whose row is gone cannot be read, wherever a copy of it lies.
 */

import { PAGE, sealedRows } from '../../../seal/sealed-rows.ts';
import type { Vault } from '../../../seal/vault.ts';
import { newFileSecret } from '../../documents/store/sealed-file.ts';

/** A new secret, and the secret as the row keeps it. The key of the shown PDF names the contract. */
export function newSecret(
  vault: Vault,
  shownKey: string,
): { readonly secret: Buffer; readonly sealed: Buffer } {
  const secret = newFileSecret();
  return { secret, sealed: vault.seal(secret, identityOf(shownKey)) };
}

/** The secret of a row. Throws as `Vault.open` does. */
export function openSecret(
  vault: Vault,
  { shownKey, sealed }: { readonly shownKey: string; readonly sealed: Buffer },
): Buffer {
  return vault.open(sealed, identityOf(shownKey));
}

function identityOf(shownKey: string): string {
  return `contract:${shownKey}`;
}

/** The secrets of contracts. A row whose contract was dropped meanwhile stays without its secret. */
export const CONTRACT_SECRETS = sealedRows({
  name: 'contract secrets',
  identity: identityOf,
  some: `
    SELECT shown_key AS name, sealed FROM loan_contracts WHERE substring(sealed FROM 1 FOR 1) = $1 LIMIT 3`,
  page: `
    SELECT id, shown_key AS name, CASE WHEN (substring(sealed FROM 1 FOR 1) = $2) = $3 THEN sealed END AS sealed
    FROM loan_contracts WHERE id > $1 AND sealed IS NOT NULL ORDER BY id LIMIT ${PAGE}`,
  write: `
    UPDATE loan_contracts c SET sealed = g.again
    FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS g(id, again, sealed)
    WHERE c.id = g.id AND c.sealed = g.sealed AND may_seal($4) AND c.id = ANY (ARRAY(
      SELECT h.id FROM loan_contracts h WHERE h.id = ANY ($1::bigint[]) ORDER BY h.id FOR NO KEY UPDATE))`,
});
