/**
 * Limits sign-in attempts: the counts in 15 minutes by login, address, operator and link (docs/operators.md, "The
 * operator API"). Each try is counted in `operator_tries` before anything is checked.
 */
import { createHmac } from 'node:crypto';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { clearTries, countTry, type LockedOut, takeTryBack } from '../sql/tries.ts';

interface Store {
  readonly database: Database;
  readonly vault: Vault;
}

/** Who tries a password, and from where. */
interface From {
  readonly login: string;
  readonly address: string;
  /** The operator has signed in with both factors in this browser. */
  readonly isKnown: boolean;
}

/** A try that was counted. */
interface Counted {
  /** null: it is allowed. */
  readonly lockedOut: LockedOut | null;
  /** Call it after a right password. */
  readonly clear: () => Promise<void>;
  /**
   * Call it if nobody checked a stranger's password. Null for a known operator, whose check waits for its turn instead.
   */
  readonly takeBack: (() => Promise<void>) | null;
}

const NAME_BYTES = 16;
/**
 * The most tries in 15 minutes. `pair`: of a login from an address. `login`: of a login. `address`: from an address.
 * `codes`: of an operator's codes. `link`: of passwords with a link. `known`: of a login from all browsers that know
 * it. `starts`: starts at the identity provider, from an address or of a known operator. `looks`: looks from an address
 * at links that do not exist.
 */
const MOST = {
  pair: 10,
  login: 50,
  address: 50,
  codes: 10,
  link: 10,
  known: 10,
  starts: 50,
  looks: 50,
} as const;

/**
 * Counts a try of a password. From a known browser the try counts in a place of its own, so strangers cannot use it up.
 * When that place is used up, the browser counts as a stranger's, so a stolen cookie locks nobody out either.
 */
export async function countPassword({ database, vault }: Store, from: From): Promise<Counted> {
  const known = nameOf(vault, 'known', from.login);
  if (from.isKnown && (await countTry(database, { name: known, most: MOST.known })) === null) {
    // Only this try is taken back. If all were, each right password would let ten more tries wait for their turns.
    return { lockedOut: null, clear: () => takeTryBack(database, [known]), takeBack: null };
  }
  const { address, pair, login } = namesOf(vault, from);
  // Counted one after the other. An address over its limit then adds no row for each login that it makes up. Its tries
  // over the limit of a login do not use up those of the operator, who is elsewhere.
  const lockedOut =
    (await countTry(database, { name: address, most: MOST.address })) ??
    (await countTry(database, { name: pair, most: MOST.pair })) ??
    (await countTry(database, { name: login, most: MOST.login }));
  return {
    lockedOut,
    // The tries of this login from this address are forgotten. Of the other counts only this try is taken back. If none
    // were, the operators of an office, who share an address, would lock one another out.
    clear: async () => {
      await takeTryBack(database, [address, login]);
      await clearTries(database, [pair]);
    },
    takeBack: () => takeTryBack(database, [address, pair, login]),
  };
}

/** Counts a try of a code. Null: the try is allowed. */
export function countCode({ database, vault }: Store, operatorId: number): Promise<LockedOut | null> {
  return countTry(database, { name: nameOf(vault, 'codes', String(operatorId)), most: MOST.codes });
}

/** The code was right: the operator's tries count no more. */
export function clearCodes({ database, vault }: Store, operatorId: number): Promise<void> {
  return clearTries(database, [nameOf(vault, 'codes', String(operatorId))]);
}

/** Counts a try to choose a password with a link. Returns what `countCode` does. */
export function countLink({ database, vault }: Store, linkDigest: Buffer): Promise<LockedOut | null> {
  return countTry(database, { name: nameOf(vault, 'link', linkDigest.toString('hex')), most: MOST.link });
}

/**
 * Counts a start at the identity provider. If a known browser, a link or a session tells the operator, the start counts
 * apart from those of strangers, as a password does. Returns what `countCode` does.
 */
export async function countStart(
  { database, vault }: Store,
  { address, operatorId }: { readonly address: string; readonly operatorId: number | null },
): Promise<LockedOut | null> {
  const most = MOST.starts;
  const own = nameOf(vault, 'starts of', String(operatorId));
  if (operatorId !== null && (await countTry(database, { name: own, most })) === null) return null;
  return countTry(database, { name: nameOf(vault, 'starts', address), most });
}

/** Takes a stranger's start back, because it led to a sign-in. */
export function takeStartBack({ database, vault }: Store, address: string): Promise<void> {
  return takeTryBack(database, [nameOf(vault, 'starts', address)]);
}

/** Counts a look at a link. Returns what `countCode` does. */
export function countLook({ database, vault }: Store, address: string): Promise<LockedOut | null> {
  return countTry(database, { name: nameOf(vault, 'looks', address), most: MOST.looks });
}

/** The link exists, so this look no longer counts. */
export function takeLookBack({ database, vault }: Store, address: string): Promise<void> {
  return takeTryBack(database, [nameOf(vault, 'looks', address)]);
}

function namesOf(vault: Vault, { login, address }: Omit<From, 'isKnown'>) {
  return {
    address: nameOf(vault, 'address', address),
    login: nameOf(vault, 'login', login),
    pair: nameOf(vault, 'pair', `${login} ${address}`),
  };
}

/** A keyed hash of what is tried, so that the store keeps no address and no login that does not exist. */
function nameOf(vault: Vault, kind: string, text: string): Buffer {
  return createHmac('sha256', vault.derivedKey('ventanilla sign-in tries'))
    .update(`${kind}:${text}`)
    .digest()
    .subarray(0, NAME_BYTES);
}
