/**
 * Makes the blind index of a phone, an ID number and the channel's ids: one function for each kind, wherever the index
 * is stored, searched or compared. Pure. ARCHITECTURE, "Personal data", has the rule (D11, D49).
 *
 * An index is 16 hex digits here and a bigint of the same 64 bits in the database. In a store of a hundred million
 * phones the chance that two share an index is about one in four thousand.
 */

import { foldIdNumber } from '../domain/application/fold-id-number.ts';
import type { BlindIndex, BlindIndexKind } from '../domain/application/ids.ts';
import { foldPhone, type Phone } from '../domain/phone/phone.ts';
import type { Vault } from './vault.ts';

const HEX_DIGITS = 16;

/** The index of an E.164 phone; two forms of one line (D11) have the same index. */
export function phoneIndexOf(vault: Vault, phone: Phone): BlindIndex<'phone'> {
  return indexOf(vault, 'phone', foldPhone(phone));
}

/** The index of a citizen ID number; two spellings of one number (D49) have the same index. */
export function idNumberIndexOf(vault: Vault, idNumber: string): BlindIndex<'id_number'> {
  return indexOf(vault, 'id_number', foldIdNumber(idNumber));
}

/** The same index in the previous form (`INDEX_FORM`), in which only equal texts have the same index. */
export function formerIdNumberIndexOf(vault: Vault, idNumber: string): BlindIndex<'id_number'> {
  return indexOf(vault, 'id_number', idNumber);
}

/** The index of the channel's own id of a message. */
export function channelIndexOf(vault: Vault, channelMessageId: string): BlindIndex<'channel_message_id'> {
  return indexOf(vault, 'channel_message_id', channelMessageId);
}

/** The index of the channel's own id of a person. */
export function channelUserIndexOf(vault: Vault, userId: string): BlindIndex<'channel_user'> {
  return indexOf(vault, 'channel_user', userId);
}

function indexOf<Kind extends BlindIndexKind>(vault: Vault, kind: Kind, value: string): BlindIndex<Kind> {
  return vault.indexAgain(vault.blindIndex(kind, value).slice(0, HEX_DIGITS)) as BlindIndex<Kind>;
}

/** The index as a parameter of a statement. */
export function toBigint(index: BlindIndex<BlindIndexKind>): string {
  return BigInt.asIntN(64, BigInt(`0x${index}`)).toString();
}

/** The index from the decimal text of a bigint column. */
export function fromBigint<Kind extends BlindIndexKind>(stored: string): BlindIndex<Kind> {
  return BigInt.asUintN(64, BigInt(stored)).toString(16).padStart(HEX_DIGITS, '0') as BlindIndex<Kind>;
}

/** The same in a statement: the index of a bigint column, as its hex digits; NULL if the column is NULL. */
export function readIndex(column: string): string {
  return `lpad(to_hex(${column}), ${HEX_DIGITS}, '0')`;
}

/** The index with the vault's newer index keys from a stored one; `from` as in `Vault.indexAgain`. */
export function storedAgain(vault: Vault, from: number): (stored: string) => string {
  return (stored) => toBigint(vault.indexAgain(fromBigint(stored), from) as BlindIndex<BlindIndexKind>);
}
