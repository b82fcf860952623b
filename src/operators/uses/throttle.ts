/** Bounds the tries to prove oneself. Each is counted before anything is looked at. */
import { createHmac } from 'node:crypto';
import type { Database } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import { clearTries, countTry } from '../sql/tries.ts';

interface Store {
  readonly database: Database;
  readonly vault: Vault;
}

const NAME_BYTES = 16;
/**
 * The most tries in 15 minutes: of a login from an address, of a login, from an address, of an operator's codes, of
 * passwords with a link; and the most starts at the identity provider from an address.
 */
const MOST = { pair: 10, login: 50, address: 50, codes: 10, link: 10, starts: 50 } as const;

/** Counts a try of a password. Returns the seconds after which the next one is allowed; null: this one is. */
export async function countPassword(
  { database, vault }: Store,
  { login, address }: { login: string; address: string },
): Promise<number | null> {
  // First: an address over its bound adds no row for each login that it makes up.
  const wait = await countTry(database, [{ name: nameOf(vault, 'address', address), most: MOST.address }]);
  if (wait !== null) return wait;
  return countTry(database, [
    { name: nameOf(vault, 'pair', `${login} ${address}`), most: MOST.pair },
    { name: nameOf(vault, 'login', login), most: MOST.login },
  ]);
}

/** The password was right: the login's tries from this address count no more. */
export function clearPasswords(
  { database, vault }: Store,
  { login, address }: { login: string; address: string },
): Promise<void> {
  return clearTries(database, [nameOf(vault, 'pair', `${login} ${address}`)]);
}

/** Counts a try of a code. Returns what `countPassword` does. */
export function countCode({ database, vault }: Store, operatorId: number): Promise<number | null> {
  return countTry(database, [{ name: nameOf(vault, 'codes', String(operatorId)), most: MOST.codes }]);
}

/** The code was right: the operator's tries count no more. */
export function clearCodes({ database, vault }: Store, operatorId: number): Promise<void> {
  return clearTries(database, [nameOf(vault, 'codes', String(operatorId))]);
}

/** Counts a try to choose a password with a link. Returns what `countPassword` does. */
export function countLink({ database, vault }: Store, linkDigest: Buffer): Promise<number | null> {
  return countTry(database, [{ name: nameOf(vault, 'link', linkDigest.toString('hex')), most: MOST.link }]);
}

/** Counts a start at the identity provider. Returns what `countPassword` does. */
export function countStart({ database, vault }: Store, address: string): Promise<number | null> {
  return countTry(database, [{ name: nameOf(vault, 'starts', address), most: MOST.starts }]);
}

/** A keyed hash of what is tried: the store keeps no address, and no login that nobody has. */
function nameOf(vault: Vault, kind: string, text: string): Buffer {
  return createHmac('sha256', vault.derivedKey('ventanilla sign-in tries'))
    .update(`${kind}:${text}`)
    .digest()
    .subarray(0, NAME_BYTES);
}
