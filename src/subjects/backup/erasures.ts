/**
 * Stores the erasures of persons in the place of backups, and reads them at a restore. Each is an object outside of any
 * one backup, which stays when backups are removed (README.md). Reads and writes the place.
 */

import type { Place } from '../../ground/places/place.ts';
import { BackupError, OtherBackupKeyError, UnreadableBackupError } from './errors.ts';
import type { BackupKey } from './sealed.ts';

const FOLDER = 'erasures';
const READ_AT_ONCE = 8;

const nameOf = (id: string) => `${FOLDER}/${id}`;

/** The ids of the erasures that the place has. */
export async function erasuresIn(place: Place): Promise<string[]> {
  return (await place.list(`${FOLDER}/`)).map((name) => name.slice(FOLDER.length + 1));
}

/** Stores an erasure: any JSON value without personal data. One with the same id is replaced. */
export async function storeErasure(place: Place, key: BackupKey, id: string, value: unknown): Promise<void> {
  await place.put(nameOf(id), await key.seal(nameOf(id), Buffer.from(JSON.stringify(value))));
}

/** Whether the place has the erasure and it opens. Throws `OtherBackupKeyError` if another key has sealed it. */
export async function hasErasure(place: Place, key: BackupKey, id: string): Promise<boolean> {
  try {
    const object = await place.get(nameOf(id));
    if (object !== undefined) await key.open(nameOf(id), object);
    return object !== undefined;
  } catch (error) {
    if (error instanceof UnreadableBackupError && !(error instanceof OtherBackupKeyError)) return false;
    throw error;
  }
}

/** All erasures of a place, in the order of their ids. Throws `BackupError` if one of them cannot be trusted. */
export async function* readStoredErasures(place: Place, key: BackupKey): AsyncGenerator<unknown> {
  const ids = await erasuresIn(place);
  for (let start = 0; start < ids.length; start += READ_AT_ONCE) {
    yield* await Promise.all(ids.slice(start, start + READ_AT_ONCE).map((id) => readErasure(place, key, id)));
  }
}

async function readErasure(place: Place, key: BackupKey, id: string): Promise<unknown> {
  const object = await place.get(nameOf(id));
  if (object === undefined) throw new BackupError(`${nameOf(id)} is missing in ${place.address}`);
  return JSON.parse((await key.open(nameOf(id), object)).toString());
}
