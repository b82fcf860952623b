/** Bounds the tries to prove oneself. Each is counted before anything is looked at. */
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
  /** The password was right. */
  readonly clear: () => Promise<void>;
  /** For a stranger: nobody looked at the password. null: it is no stranger's, and waits where it has to. */
  readonly takeBack: (() => Promise<void>) | null;
}

const NAME_BYTES = 16;
/**
 * The most tries in 15 minutes: of a login from an address, of a login, from an address, of an operator's codes, of
 * passwords with a link, and of a login from all browsers that know it; the most starts at the identity provider, from
 * an address or of an operator who is known; and from an address the most looks at links of nobody.
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
 * Counts a try of a password. From a browser that knows the operator it counts there alone, so that strangers use up
 * nothing of it; who has used that up counts as a stranger, so that a stolen cookie locks nobody out either.
 */
export async function countPassword({ database, vault }: Store, from: From): Promise<Counted> {
  const known = nameOf(vault, 'known', from.login);
  if (from.isKnown && (await countTry(database, { name: known, most: MOST.known })) === null) {
    // This one alone: to forget all would let a new crowd wait for its turns with each password that is right.
    return { lockedOut: null, clear: () => takeTryBack(database, [known]), takeBack: null };
  }
  const { address, pair, login } = namesOf(vault, from);
  // One after the other: an address over its bound adds no row for each login that it makes up, and the tries that it
  // has too many of a login do not use up those of the operator, who is elsewhere.
  const lockedOut =
    (await countTry(database, { name: address, most: MOST.address })) ??
    (await countTry(database, { name: pair, most: MOST.pair })) ??
    (await countTry(database, { name: login, most: MOST.login }));
  return {
    lockedOut,
    // The tries of the login from this address count no more. Those of the address and of the login stay but for this
    // one: else the operators of an office, who share an address, would stop one another.
    clear: async () => {
      await takeTryBack(database, [address, login]);
      await clearTries(database, [pair]);
    },
    takeBack: () => takeTryBack(database, [address, pair, login]),
  };
}

/** Counts a try of a code. null: it is allowed. */
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
 * Counts a start at the identity provider: of an operator who is known by the browser, a link or a session apart from
 * strangers, as a password is. Returns what `countCode` does.
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

/** A stranger's start led to a sign-in. */
export function takeStartBack({ database, vault }: Store, address: string): Promise<void> {
  return takeTryBack(database, [nameOf(vault, 'starts', address)]);
}

/** Counts a look at a link. Returns what `countCode` does. */
export function countLook({ database, vault }: Store, address: string): Promise<LockedOut | null> {
  return countTry(database, { name: nameOf(vault, 'looks', address), most: MOST.looks });
}

/** The link was one. */
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

/** A keyed hash of what is tried: the store keeps no address, and no login that nobody has. */
function nameOf(vault: Vault, kind: string, text: string): Buffer {
  return createHmac('sha256', vault.derivedKey('ventanilla sign-in tries'))
    .update(`${kind}:${text}`)
    .digest()
    .subarray(0, NAME_BYTES);
}
