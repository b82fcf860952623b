/**
 * Stores copies of the files of documents and contracts in the place of backups, reads them, and removes those that no
 * backup needs. A file is written once, so one copy serves all backups; it stays until no backup has a row for it any
 * more (README.md). Reads and writes the place.
 */
import type { Place } from '../../ground/places/place.ts';
import { backupsOf, manifestName, namesOfBackups } from './names.ts';
import type { BackupKey } from './sealed.ts';

/** A place that holds objects as large as files, and the key that seals them. */
export interface FilePlace {
  readonly place: Place;
  readonly key: BackupKey;
}

const PREFIX = 'file-';
/** The most names of gone files that are kept with a backup; the next backup names the rest. */
const MOST_GONE = 200_000;

/** The name of a file's copy in the place. */
export const copyName = (file: string) => `${PREFIX}${file}`;
const goneName = (backup: string) => `${backup}/gone-files`;

/** The files of a part, by the beginning of their names, whose copies the place has. */
export async function copiesIn({ place }: FilePlace, part: string): Promise<Set<string>> {
  return new Set((await place.list(copyName(part))).map((name) => name.slice(PREFIX.length)));
}

/** Stores a copy of a file. */
export async function storeCopy({ place, key }: FilePlace, file: string, bytes: Buffer): Promise<void> {
  await place.put(copyName(file), await key.seal(copyName(file), bytes));
}

/** A file; undefined if the place has no copy. Throws `UnreadableBackupError` if the copy does not open. */
export async function readCopy({ place, key }: FilePlace, file: string): Promise<Buffer | undefined> {
  const object = await place.get(copyName(file));
  return object && key.open(copyName(file), object);
}

/**
 * Removes the copies that no backup needs any more: those of files that no row had when the oldest backup was made, and
 * none has now. `gone` are the files of the place that no row has: they are noted with the backup that was just made.
 */
export async function forgetCopies(
  to: FilePlace,
  backup: string,
  gone: readonly string[],
): Promise<readonly string[]> {
  const { place, key } = to;
  const note = Buffer.from(JSON.stringify(gone.slice(0, MOST_GONE)));
  await place.put(goneName(backup), await key.seal(goneName(backup), note));
  const oldest = await oldestBackup(place);
  const sealed = oldest && (await place.get(goneName(oldest)));
  if (!sealed) return [];
  const before = JSON.parse((await key.open(goneName(oldest), sealed)).toString()) as string[];
  const now = new Set(gone);
  const over = before.filter((file) => now.has(file));
  for (const file of over) await place.remove(copyName(file));
  return over;
}

async function oldestBackup(place: Place): Promise<string | undefined> {
  const names = await namesOfBackups(place);
  return backupsOf(names).find((backup) => names.includes(manifestName(backup)));
}
