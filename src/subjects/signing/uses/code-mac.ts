/** Makes the keyed hashes of one-time codes and of the phones that get them (D46). Pure. */
import { createHmac } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Phone } from '../../../domain/phone/phone.ts';
import type { Vault } from '../../../seal/vault.ts';

const LABEL = 'ventanilla signing codes';

/** The hash of a code. It differs for another application or another contract. */
export function codeMac(vault: Vault, id: ApplicationId, contractId: string, code: string): Buffer {
  return macOf(vault, [id, contractId, code]);
}

/** The hash of a phone: the same for all its applications, until the index key changes. */
export function phoneMac(vault: Vault, phone: Phone): Buffer {
  return macOf(vault, ['phone', phone]);
}

function macOf(vault: Vault, parts: readonly (string | number)[]): Buffer {
  return createHmac('sha256', vault.derivedKey(LABEL)).update(JSON.stringify(parts)).digest();
}
