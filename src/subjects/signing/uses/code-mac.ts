/** The keyed hashes of one-time codes and of the phones that they go to (D46). */
import { createHmac } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Phone } from '../../../domain/phone/phone.ts';
import type { Vault } from '../../../seal/vault.ts';

const LABEL = 'ventanilla signing codes';

/** Of a code: another application or another contract has another one. */
export function codeMac(vault: Vault, id: ApplicationId, contractId: string, code: string): Buffer {
  return macOf(vault, [id, contractId, code]);
}

/** Of a phone: the same one for all its applications, until the index key changes. */
export function phoneMac(vault: Vault, phone: Phone): Buffer {
  return macOf(vault, ['phone', phone]);
}

function macOf(vault: Vault, parts: readonly (string | number)[]): Buffer {
  return createHmac('sha256', vault.derivedKey(LABEL)).update(JSON.stringify(parts)).digest();
}
