/** The blind indexes of people: one way to make each, wherever it is stored, searched or compared. */
import { foldPhone } from '../domain/phone.ts';
import type { Vault } from './vault.ts';

/** Of an E.164 phone: 32 hex digits, the same for the double forms of one line (D11). */
export function phoneIndexOf(vault: Vault, phone: string): string {
  return vault.blindIndex('phone', foldPhone(phone));
}

/** Of a citizen ID number as it is stored: 32 hex digits. */
export function idNumberIndexOf(vault: Vault, idNumber: string): string {
  return vault.blindIndex('id_number', idNumber);
}

/** Whether an index is the one that the database holds as a UUID; both null: neither is there. */
export function isStoredIndex(index: string | null, stored: string | null): boolean {
  return index === (stored?.replaceAll('-', '') ?? null);
}
