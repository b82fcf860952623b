/**
 * Copies the files of documents and contracts into the place of backups, compares them, and puts them back at a
 * restore. Reads the subjects' file names and stores, writes objects of the place. docs/backup.md has the rule.
 */
import type { Clock } from '../../ground/base/clock.ts';
import { counted } from '../../ground/base/counted.ts';
import type { ReadSetting } from '../../ground/base/setting.ts';
import type { Session } from '../../ground/postgres/database.ts';
import type { FileStore, ServiceContext, StoredFiles } from '../../program/subject/subject.ts';
import { UnreadableBackupError } from '../../subjects/backup/errors.ts';
import {
  copiesIn,
  copyName,
  type FilePlace,
  forgetCopies,
  readCopy,
  storeCopy,
} from '../../subjects/backup/files.ts';
import { loadFiles } from '../subjects.ts';

/** How long the upkeep waits for a slow place. */
const WAIT_MS = 3_000;
/** The parts of 512 that a turn of the upkeep looks at, so all of them in 16 minutes. */
const PARTS_A_TURN = 8;

type Source = Pick<ServiceContext, 'database' | 'clock' | 'setting' | 'failed' | 'stopping'>;

/** Copies what a service stores, and what the place lacks. */
export class FileCopies {
  readonly #to: FilePlace;
  readonly #pending = new Set<string>();
  #part = Math.floor(Math.random() * 1024);
  #working: Promise<void> | null = null;

  constructor(to: FilePlace) {
    this.#to = to;
  }

  /**
   * Copies what this process has stored since the last turn, and looks at a few parts. Any number of processes may do
   * this at once. If the place is slow, the work continues after this returns. Throws if the work fails soon; the next
   * turn continues.
   */
  async turn(source: Source): Promise<void> {
    if (this.#working !== null) return;
    let isLate = false;
    const work = this.#turn(source).finally(() => {
      this.#working = null;
    });
    this.#working = work.catch((error: unknown) => {
      if (isLate) source.failed('copying files into the place of backups', error);
    });
    await Promise.race([work, source.clock.sleep(WAIT_MS, { ref: false })]);
    isLate = true;
  }

  /** Resolves when nothing is copied any more. */
  async stop(): Promise<void> {
    await this.#working;
  }

  async #turn({ database, clock, setting, stopping }: Source): Promise<void> {
    const all = await loadFiles();
    for (const files of all) {
      for (const file of files.storedLately()) this.#pending.add(file);
      const pending = [...this.#pending].filter((file) => files.parts.some((part) => file.startsWith(part)));
      if (pending.length === 0) continue;
      const store = await files.open(setting, clock);
      for (const file of pending) {
        if (stopping.aborted) return;
        await copy(store, this.#to, file);
        this.#pending.delete(file);
      }
    }
    const parts = all.flatMap((files) => files.parts.map((part) => ({ files, part })));
    for (let count = 0; count < PARTS_A_TURN && !stopping.aborted; count += 1, this.#part += 1) {
      const { files, part } = parts[this.#part % parts.length]!;
      await copyPart(database, await files.open(setting, clock), this.#to, files, part);
    }
  }

  /** After a new backup: removes the copies that no backup needs any more. */
  async forget({ database }: Pick<Source, 'database'>, backup: string): Promise<void> {
    const gone: string[] = [];
    for (const files of await loadFiles()) {
      for (const part of files.parts) {
        const used = new Set(await files.keysOf(database, part));
        gone.push(...[...(await copiesIn(this.#to, part))].filter((file) => !used.has(file)));
      }
    }
    await forgetCopies(this.#to, backup, gone);
  }
}

/** Copies all files that the place lacks. Returns how many. */
export async function copyAllFiles(
  { database, setting, clock }: Pick<Source, 'database' | 'setting' | 'clock'>,
  to: FilePlace,
): Promise<number> {
  let copied = 0;
  for (const files of await loadFiles()) {
    const store = await files.open(setting, clock);
    for (const part of files.parts) copied += await copyPart(database, store, to, files, part);
  }
  return copied;
}

async function copyPart(
  database: Session,
  store: FileStore,
  to: FilePlace,
  files: StoredFiles,
  part: string,
): Promise<number> {
  const used = await files.keysOf(database, part);
  if (used.length === 0) return 0;
  const known = await copiesIn(to, part);
  let copied = 0;
  for (const file of used) if (!known.has(file)) copied += await copy(store, to, file);
  return copied;
}

async function copy(store: FileStore, to: FilePlace, file: string): Promise<number> {
  const bytes = await store.get(file);
  // Deleted meanwhile, or lost. The upkeep reports what is lost.
  if (bytes === undefined) return 0;
  await storeCopy(to, file, bytes);
  return 1;
}

/** What a look at all files of a restored store found. */
export interface FileCounts {
  readonly whole: number;
  /** The names of the objects in the place. */
  readonly missing: readonly string[];
  readonly damaged: readonly string[];
}

/** Opens the copy of each file that the store names, and puts it into the store of documents if one is given. */
export async function takeFiles(
  { database, clock }: { readonly database: Session; readonly clock: Clock },
  from: FilePlace,
  setting: ReadSetting | null,
): Promise<FileCounts> {
  const found = { whole: 0, missing: [] as string[], damaged: [] as string[] };
  for (const files of await loadFiles()) {
    const store = setting && (await files.open(setting, clock));
    for (const part of files.parts) {
      const used = await files.keysOf(database, part);
      const there = new Set(store === null || used.length === 0 ? [] : await store.list(part));
      for (const file of used) {
        if (there.has(file)) found.whole += 1;
        else await take(file, from, store, found);
      }
    }
  }
  return found;
}

async function take(
  file: string,
  from: FilePlace,
  store: FileStore | null,
  found: { whole: number; readonly missing: string[]; readonly damaged: string[] },
): Promise<void> {
  try {
    const bytes = await readCopy(from, file);
    if (bytes === undefined) return void found.missing.push(copyName(file));
    await store?.put(file, bytes);
    found.whole += 1;
  } catch (error) {
    if (!(error instanceof UnreadableBackupError)) throw error;
    found.damaged.push(copyName(file));
  }
}

/** The most names in a text. */
const MOST_NAMES = 3;

/** What is wrong with the copies of files; null: nothing. */
export function fileFault({ missing, damaged }: FileCounts, address: string): string | null {
  const some = (names: readonly string[]) =>
    `${names.slice(0, MOST_NAMES).join(', ')}${names.length > MOST_NAMES ? ' and others' : ''}`;
  const faults = [
    missing.length === 0
      ? ''
      : `${counted(missing.length, 'file of documents and contracts is', 'files of documents and contracts are')} missing in ${address} (${some(missing)})`,
    damaged.length === 0
      ? ''
      : `${counted(damaged.length, 'does', 'do')} not open (${some(damaged)}): remove what is named, and it is copied again`,
  ];
  return faults.filter((fault) => fault !== '').join('; ') || null;
}
