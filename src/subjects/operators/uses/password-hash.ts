/**
 * Makes and checks hashes of passwords (argon2id, RFC 9106), one at a time. Each takes 64 MiB and about 0.1 s of a
 * core, so a flood of sign-ins would take both from the partners' requests. A stranger is refused while a hash is under
 * way. A known operator waits for a turn: otherwise strangers from many addresses could lock everybody out.
 * docs/operators.md has the rule, "The operator API".
 */
import * as crypto from 'node:crypto';
import { promisify } from 'node:util';
import { ToldError } from '../../../ground/base/told-error.ts';
import { randomBytes } from '../../../seal/vault.ts';

const MEMORY_KIB = 65_536;
const PASSES = 3;
const PARALLELISM = 1;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const FORM = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]{22})\$([\w+/]{43})$/;

/** A Node without argon2id has no such function, or one that throws. The import must not fail there. */
const derive = promisify((...args: Parameters<typeof crypto.argon2>) => (crypto.argon2 ?? missing)(...args));

/** Another hash is under way. */
export class BusyError extends Error {
  override readonly name = 'BusyError';

  constructor() {
    super('another password is being checked');
  }
}

/** The last hash that is under way or waits for its turn; null: there is no such hash. */
let last: Promise<unknown> | null = null;

/** Makes a small hash, so that the start fails and not the first sign-in. Throws `ToldError` if it cannot. */
export async function checkArgon2(): Promise<void> {
  try {
    await digest('', Buffer.alloc(SALT_BYTES), { memory: 8, passes: 1, parallelism: 1 });
  } catch {
    throw new ToldError('the console needs argon2id, which this Node.js does not have: use 24.7 or later');
  }
}

function missing(): never {
  throw new Error('node:crypto has no argon2');
}

/**
 * Throws `BusyError` while a hash is under way. Called before the try is counted, because a try that nobody checks must
 * not count.
 */
export function refuseWhileBusy(): void {
  if (last !== null) throw new BusyError();
}

/**
 * Does the `work` of a stranger. While a hash is under way, calls `takeBack`, because nobody checks the try, and throws
 * `BusyError`.
 */
export async function unlessBusy<T>(work: () => Promise<T>, takeBack: () => Promise<void>): Promise<T> {
  if (last === null) return work();
  await takeBack();
  throw new BusyError();
}

/** The text that is stored for a password, with its parameters and salt. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await inTurn(() =>
    digest(password, salt, { memory: MEMORY_KIB, passes: PASSES, parallelism: PARALLELISM }),
  );
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${PARALLELISM}$${unpadded(salt)}$${unpadded(hash)}`;
}

/**
 * Whether the password is the one of the hash. Without a hash the answer is false and takes as long, so the time does
 * not tell which logins exist. Throws if the text is no such hash.
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [, memory, passes, parallelism, salt, hash] = FORM.exec(stored ?? NOBODYS) ?? [];
  if (salt === undefined || hash === undefined) throw new Error('the stored hash of a password is damaged');
  const parameters = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const made = await inTurn(() => digest(password, Buffer.from(salt, 'base64'), parameters));
  return crypto.timingSafeEqual(made, Buffer.from(hash, 'base64')) && stored !== null;
}

/** A hash of no password, for logins that do not exist. */
const NOBODYS = `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${PARALLELISM}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

function digest(
  password: string,
  nonce: Buffer,
  parameters: { memory: number; passes: number; parallelism: number },
): Promise<Buffer> {
  return derive('argon2id', {
    message: password.normalize('NFC'),
    nonce,
    tagLength: HASH_BYTES,
    ...parameters,
  });
}

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = (last ?? Promise.resolve()).then(work, work);
  const free = () => {
    if (last === mine) last = null;
  };
  last = mine;
  mine.then(free, free);
  return mine;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
