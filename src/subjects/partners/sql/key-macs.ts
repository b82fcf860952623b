/**
 * The MAC of an API key's row: it covers whose key it is and what it allows, so that nobody can give the key to another
 * partner (SECURITY.md, "Who writes the database"). Reads and writes `api_keys.mac`; `seal/row-macs.ts` has the rule.
 */
import type { Environment, KeyId, PartnerId } from '../../../domain/partner/credential.ts';
import { micros } from '../../../ground/postgres/database-time.ts';
import {
  type Fact,
  isRowMac,
  type MacedRows,
  renewedMacs,
  rowMac,
  type Telling,
  tellForged,
} from '../../../seal/row-macs.ts';
import type { Vault } from '../../../seal/vault.ts';

/** What the MAC covers. Times are microseconds since 1970, as texts. */
export interface KeyFacts {
  readonly id: KeyId;
  readonly partnerId: PartnerId;
  readonly digest: Buffer;
  readonly environment: Environment | null;
  readonly dailyCap: number | null;
  readonly expires: string | null;
  readonly revoked: string | null;
}

/** The columns of `KeyFacts`, with the MAC; `k` is the name of the table in the statement. */
export const KEY_FACTS = `k.id, k.partner_id AS "partnerId", k.digest, k.environment, k.daily_cap AS "dailyCap", k.mac,
  ${micros('k.expires_at')} AS expires, ${micros('k.revoked_at')} AS revoked`;

const KIND = 'API key';

function factsOf({ id, partnerId, digest, environment, dailyCap, expires, revoked }: KeyFacts): Fact[] {
  return [id, partnerId, digest.toString('hex'), environment, dailyCap, expires, revoked];
}

/** The MAC of a row. */
export function keyMac(vault: Vault, facts: KeyFacts): Buffer {
  return rowMac(vault, KIND, factsOf(facts));
}

/** Whether this service has written the row as it is. */
export function isOwnKey(vault: Vault, row: KeyFacts & { readonly mac: Buffer }): boolean {
  return isRowMac(vault, KIND, factsOf(row), row.mac);
}

/** All keys, for the check and the replacement of their MACs. */
export const KEYS: MacedRows<KeyFacts & { mac: Buffer }> = {
  kind: KIND,
  read: `SELECT k.id::text AS name, ${KEY_FACTS} FROM api_keys k`,
  write: `
    UPDATE api_keys k SET mac = u.mac FROM unnest($1::integer[], $2::bytea[]) AS u(id, mac) WHERE k.id = u.id`,
  factsOf,
};

/** For the replacement of the index key. */
export const KEY_MACS = renewedMacs('MACs of API keys', KEYS);

/** Reports keys that this service has not written (`tellForged`). */
export function tellForgedKeys(context: Telling): Promise<void> {
  return tellForged(context, [KEYS]);
}
