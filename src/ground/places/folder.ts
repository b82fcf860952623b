/**
 * Stores objects in a folder: a mounted disk, or one that another machine shares. Touches files. `place.ts` has the
 * rules.
 */
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../base/describe-error.ts';
import { syncDirectory } from '../files/sync-directory.ts';
import { discard, temporaryBeside } from '../files/temporary.ts';
import type { Place, PlaceUse } from './place.ts';

/** A temporary of `temporaryBeside`, which a killed process may have left. */
const TEMPORARY = '.making-';

export class Folder implements Place {
  readonly address: string;
  readonly #use: PlaceUse;

  /** `address` is an absolute path. */
  constructor(address: string, use: PlaceUse) {
    this.address = address;
    this.#use = use;
  }

  async put(name: string, object: Buffer): Promise<void> {
    const path = join(this.address, name);
    const folder = dirname(path);
    await this.#explained(async () => {
      const made = await mkdir(folder, { recursive: true, mode: 0o700 });
      const temporary = temporaryBeside(path);
      try {
        const file = await open(temporary, 'wx', 0o600);
        try {
          await file.writeFile(object);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporary, path);
      } finally {
        await discard(temporary);
      }
      await syncDirectory(folder);
      if (made !== undefined) await syncDirectory(dirname(folder));
    });
  }

  get(name: string): Promise<Buffer | undefined> {
    return this.#explained(() =>
      unlessAbsent(() => readObject(join(this.address, name), this.#use), undefined),
    );
  }

  async list(prefix: string): Promise<string[]> {
    const names: string[] = [];
    for (const folder of await this.#names('')) {
      const isWanted = prefix.startsWith(`${folder}/`) || folder.startsWith(prefix);
      if (isWanted) names.push(...(await this.#names(folder)).map((name) => `${folder}/${name}`));
    }
    return names.filter((name) => name.startsWith(prefix) && !name.includes(TEMPORARY)).sort();
  }

  room(): Promise<number> {
    return this.#explained(async () => {
      for (let folder = this.address; ; folder = dirname(folder)) {
        const found = await unlessAbsent(() => statfs(folder), null);
        if (found !== null) return found.bavail * found.bsize;
      }
    });
  }

  async remove(name: string): Promise<void> {
    await this.#explained(() => rm(join(this.address, name), { force: true }));
  }

  async clear(folder: string): Promise<void> {
    await this.#explained(() => rm(join(this.address, folder), { recursive: true, force: true }));
  }

  /** The names in a folder of the place. A file in the place of a folder has no names. */
  #names(folder: string): Promise<string[]> {
    return this.#explained(() =>
      unlessAbsent(async () => (await readdir(join(this.address, folder))).sort(), [], ['ENOENT', 'ENOTDIR']),
    );
  }

  async #explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const code = errorCode(error);
      if (code === undefined) throw error;
      const full = code === 'ENOSPC' || code === 'EDQUOT';
      const advice = full ? 'make room or set another place' : 'make it a folder that this user may write to';
      throw this.#use.failure(`${this.#use.name}, ${this.address}, fails (${code}): ${advice}`, error);
    }
  }
}

async function unlessAbsent<T, U>(
  read: () => Promise<T>,
  otherwise: U,
  absent: readonly string[] = ['ENOENT'],
): Promise<T | U> {
  try {
    return await read();
  } catch (error) {
    if (absent.includes(errorCode(error) ?? '')) return otherwise;
    throw error;
  }
}

/** Reads no more than an object may have. A pipe, whose reading would wait, is no object. */
async function readObject(path: string, use: PlaceUse): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw use.unreadable(`${path} is no file: ${use.advice}`);
    if (found.size > use.mostBytes) {
      throw use.unreadable(`${path} is larger than any ${use.object}: ${use.advice}`);
    }
    return await file.readFile();
  } finally {
    await file.close();
  }
}
