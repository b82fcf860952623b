/**
 * Hashes of passwords (argon2id, RFC 9106), one at a time: each takes 64 MiB and about 0.1 s of a core, so a flood of
 * sign-ins would take both from the partners' requests.
 */
import { argon2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { randomBytes } from '../../seal/random-bytes.ts';

const MEMORY_KIB = 65_536;
const PASSES = 3;
const PARALLELISM = 1;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const FORM = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]{22})\$([\w+/]{43})$/;

const derive = promisify(argon2);

/** Another hash is under way. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

let isBusy = false;

/** The text to keep of a password, with its parameters and salt. Throws `BusyError`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await alone(() =>
    digest(password, salt, { memory: MEMORY_KIB, passes: PASSES, parallelism: PARALLELISM }),
  );
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${PARALLELISM}$${unpadded(salt)}$${unpadded(hash)}`;
}

/**
 * Whether the password is the one of the hash. Without a hash it takes as long and is false: the time does not tell
 * which logins there are. Throws `BusyError`, and an error where the text is no such hash.
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [, memory, passes, parallelism, salt, hash] = FORM.exec(stored ?? NOBODYS) ?? [];
  if (salt === undefined || hash === undefined) throw new Error('the stored hash of a password is damaged');
  const parameters = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const made = await alone(() => digest(password, Buffer.from(salt, 'base64'), parameters));
  return timingSafeEqual(made, Buffer.from(hash, 'base64')) && stored !== null;
}

/** Of no password. */
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

async function alone<T>(work: () => Promise<T>): Promise<T> {
  if (isBusy) throw new BusyError('another password is being checked');
  isBusy = true;
  try {
    return await work();
  } finally {
    isBusy = false;
  }
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
