import { randomBytes } from 'node:crypto';
import { link, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../error-code.ts';
import { syncDirectory } from '../sync-directory.ts';
import { discard, temporaryBeside } from '../temporary.ts';
import { EmbeddedError } from './errors.ts';

/**
 * The password in `file`; when there is none, a new one, in the file and on disk before it is returned. All
 * processes that ask at the same time get the same one.
 * @throws EmbeddedError when the file is there and empty
 */
export async function ensurePassword(file: string): Promise<string> {
  return (await readPassword(file)) ?? (await createPassword(file));
}

/** The password in `file`, undefined when there is no file. @throws EmbeddedError when it is empty */
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

async function createPassword(file: string): Promise<string> {
  const temporary = temporaryBeside(file);
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(`${randomBytes(32).toString('hex')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // A link, unlike a rename, never replaces: the first process wins and the others read what it wrote.
    await link(temporary, file).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    await syncDirectory(dirname(file));
  } finally {
    await discard(temporary);
  }
  return (await readPassword(file))!;
}
