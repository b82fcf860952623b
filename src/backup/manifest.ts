/** What a backup says of itself. The manifest is stored last: a backup without one was never finished. */
import { BackupError } from './errors.ts';
import type { LogEnd } from './log/archive.ts';
import { readLsn } from './log/lsn.ts';
import { backupsOf, logEndName, manifestName } from './names.ts';
import type { Place } from './place/place.ts';
import type { BackupKey } from './sealed.ts';

interface Manifest {
  /** The store: PostgreSQL's identifier of the cluster. */
  readonly store: string;
  /** The major version of PostgreSQL, and the kind of machine: the files work on no other. */
  readonly postgres: string;
  readonly platform: string;
  /** The database's time when the base backup was finished: no earlier moment can be restored. */
  readonly at: string;
  readonly volumes: number;
  readonly bytes: number;
  readonly timeline: number;
  /** Positions in PostgreSQL's form: the log from the first one on is archived, and is needed up to the second one. */
  readonly logFrom: string;
  readonly logTo: string;
  /** PostgreSQL's file `backup_label`. */
  readonly label: string;
  /** Of the superuser: it opens no data key. */
  readonly password: string;
}

/** A finished backup of a place. */
export interface Backup {
  readonly name: string;
  readonly manifest: Manifest;
  /** The end of the log that was archived since. */
  readonly logEnd: { readonly to: bigint; readonly at: Date };
}

/** The kind of this machine, as a manifest has it. */
export const PLATFORM = `${process.platform}-${process.arch}`;

export async function storeManifest(
  place: Place,
  key: BackupKey,
  backup: string,
  manifest: Manifest,
): Promise<void> {
  const name = manifestName(backup);
  await place.put(name, await key.seal(name, Buffer.from(JSON.stringify(manifest))));
}

/** The manifest of a backup; null where the place has no such backup, or it is not finished. */
export async function readManifest(place: Place, key: BackupKey, backup: string): Promise<Manifest | null> {
  const name = manifestName(backup);
  const object = await place.get(name);
  return object === undefined ? null : (JSON.parse((await key.open(name, object)).toString()) as Manifest);
}

/** The finished backups of a place, newest first. Throws `BackupError` where one of them cannot be trusted. */
export async function* finishedBackups(place: Place, key: BackupKey): AsyncGenerator<Backup> {
  const names = await place.list('');
  for (const name of backupsOf(names).reverse()) {
    if (!names.includes(manifestName(name))) continue;
    const manifest = await readSealed<Manifest>(place, key, manifestName(name));
    const { to, at } = await readSealed<LogEnd>(place, key, logEndName(name));
    yield { name, manifest, logEnd: { to: BigInt(to), at: new Date(at) } };
  }
}

/**
 * The newest backup; with `at` the newest one from which the store of that moment can be made. Throws `BackupError`
 * where there is none.
 */
export async function chooseBackup(place: Place, key: BackupKey, at?: Date): Promise<Backup> {
  const windows: string[] = [];
  for await (const backup of finishedBackups(place, key)) {
    const { manifest, logEnd } = backup;
    if (at === undefined) return backup;
    if (new Date(manifest.at) <= at && at < logEnd.at) return backup;
    windows.push(`${manifest.at} to ${logEnd.at.toISOString()}`);
  }
  throw new BackupError(
    windows.length === 0
      ? `${place.address} has no finished backup: name the place that "backup create --to" was given`
      : `no backup in ${place.address} leads to ${at?.toISOString()}; choose a time in one of these: ${windows.join(', ')}`,
  );
}

/** Throws `BackupError` where the files of the backup do not work here. */
export function refuseForeign({ manifest }: Backup, postgres: string): void {
  if (manifest.postgres !== postgres) {
    throw new BackupError(
      `the backup is of PostgreSQL ${manifest.postgres}, and this version of Ventanilla runs ${postgres}: restore it with the version that made it`,
    );
  }
  if (manifest.platform !== PLATFORM) {
    throw new BackupError(
      `the backup was made on ${manifest.platform}, and this is ${PLATFORM}: restore it on a machine of that kind`,
    );
  }
}

/** Where the log of a backup has to reach at least. */
export function neededLogEnd({ manifest, logEnd }: Backup): bigint {
  const base = readLsn(manifest.logTo);
  return logEnd.to > base ? logEnd.to : base;
}

async function readSealed<T>(place: Place, key: BackupKey, name: string): Promise<T> {
  const object = await place.get(name);
  if (object === undefined) {
    throw new BackupError(`${name} is missing in ${place.address}: the backup was cut off, use another one`);
  }
  return JSON.parse((await key.open(name, object)).toString()) as T;
}
