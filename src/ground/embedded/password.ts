/**
 * Reads and makes the files of random passwords of the embedded server's roles (README.md). Touches these files alone.
 */
import { randomBytes } from 'node:crypto';
import { link, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../base/describe-error.ts';
import { syncDirectory } from '../files/sync-directory.ts';
import { discard, temporaryBeside } from '../files/temporary.ts';
import { EmbeddedError } from './errors.ts';

/**
 * The password in `file`. If there is none, makes one and puts it on disk before it returns. Processes that call this
 * at the same time get the same one. Throws `EmbeddedError` if the file is empty.
 */
export async function ensurePassword(file: string): Promise<string> {
  return (await readPassword(file)) ?? (await createPassword(file));
}

/** The password in `file`; undefined if there is no file. Throws `EmbeddedError` if the file is empty. */
export async function readPassword(file: string): Promise<string | undefined> {
  try {
    const password = (await readFile(file, 'utf8')).trim();
    if (password === '') throw new EmbeddedError(`${file} is empty; restore it from a backup`);
    return password;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function createPassword(file: string): Promise<string> {
  return keepPassword(file, randomBytes(32).toString('hex'));
}

/** Writes the password into `file` unless there is one, and returns the one that the file has then. */
export async function keepPassword(file: string, password: string): Promise<string> {
  const temporary = temporaryBeside(file);
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(`${password}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // A link, unlike a rename, never replaces a file: the first process wins and the others read its password.
    await link(temporary, file).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    await syncDirectory(dirname(file));
  } finally {
    await discard(temporary);
  }
  return (await readPassword(file))!;
}
