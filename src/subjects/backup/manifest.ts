/**
 * What a backup says about itself, and which backup a restore or a check has to use (README.md). The manifest is stored
 * last: a backup without one was never finished. Reads and writes the place.
 */
import type { Place } from '../../ground/places/place.ts';
import { BackupError, UnreadableBackupError } from './errors.ts';
import type { LogEnd } from './log/archive.ts';
import { readLsn } from './log/lsn.ts';
import { backupsOf, logEndName, manifestName, namesOfBackups } from './names.ts';
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
  /** The superuser's password. It opens no data key. */
  readonly password: string;
}

/** A finished backup of a place. */
export interface Backup {
  readonly name: string;
  readonly manifest: Manifest;
  /** The end of the log that was archived after the backup. */
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

/** The manifest of a backup; null if the place has no such backup, or it is not finished. */
export async function readManifest(place: Place, key: BackupKey, backup: string): Promise<Manifest | null> {
  const name = manifestName(backup);
  const object = await place.get(name);
  return object === undefined ? null : (JSON.parse((await key.open(name, object)).toString()) as Manifest);
}

/** A finished backup that cannot be read. */
interface Unreadable {
  readonly name: string;
  readonly fault: UnreadableBackupError;
}

/** The finished backups of a place, newest first. */
export async function* finishedBackups(place: Place, key: BackupKey): AsyncGenerator<Backup | Unreadable> {
  const names = await namesOfBackups(place);
  for (const name of backupsOf(names).reverse()) {
    if (names.includes(manifestName(name))) yield await readBackup(place, key, name);
  }
}

async function readBackup(place: Place, key: BackupKey, name: string): Promise<Backup | Unreadable> {
  try {
    const manifest = await readSealed<Manifest>(place, key, manifestName(name));
    const { to, at } = await readSealed<LogEnd>(place, key, logEndName(name));
    return { name, manifest, logEnd: { to: BigInt(to), at: new Date(at) } };
  } catch (error) {
    if (error instanceof UnreadableBackupError) return { name, fault: error };
    throw error;
  }
}

/**
 * The backup that leads to the newest state; with `at` the newest one from which the store of that moment can be made.
 * Throws `BackupError` if there is none, and without `at` also if the newest one cannot be read: an older state is
 * restored only if its moment is given.
 */
export async function chooseBackup(place: Place, key: BackupKey, at?: Date): Promise<Backup> {
  const found: (Backup | Unreadable)[] = [];
  for await (const one of finishedBackups(place, key)) {
    if (at !== undefined && 'manifest' in one && leadsTo(one, at)) return one;
    found.push(one);
  }
  const readable = found.filter((one) => 'manifest' in one);
  const [newest] = found;
  if (at === undefined && newest !== undefined && 'manifest' in newest) return readable.reduce(furthest);
  throw new BackupError(whyNone(place, at, found, readable));
}

/** The highest timeline of the backups of a place that can be read. */
export async function newestTimeline(place: Place, key: BackupKey): Promise<number> {
  let newest = 0;
  for await (const one of finishedBackups(place, key)) {
    if ('manifest' in one) newest = Math.max(newest, one.manifest.timeline);
  }
  return newest;
}

/**
 * The backups that lead to the last states of the place after a moment: one of each line, the newest one last. A
 * restore begins a new line: a timeline of PostgreSQL that no backup of the place has. Throws if a backup that cannot
 * be read may be one of these.
 */
export async function laterBackups(place: Place, key: BackupKey, at: Date): Promise<Backup[]> {
  const ends = new Map<number, Backup>();
  let fault: UnreadableBackupError | null = null;
  for await (const one of finishedBackups(place, key)) {
    if ('fault' in one) {
      fault ??= one.fault;
      continue;
    }
    const { timeline } = one.manifest;
    const end = ends.get(timeline);
    if (end === undefined && fault !== null) throw fault;
    fault = null;
    ends.set(timeline, end === undefined ? one : furthest(end, one));
  }
  return [...ends.values()].filter(({ logEnd }) => logEnd.at > at).reverse();
}

function leadsTo({ manifest, logEnd }: Backup, at: Date): boolean {
  return new Date(manifest.at) <= at && at < logEnd.at;
}

/**
 * The backup whose log reaches further. A backup that was made by command has no later log, while the log of an older
 * backup may continue. The log of a lost store, from before a restore, has another timeline or ends earlier by the
 * clock.
 */
function furthest(newer: Backup, older: Backup): Backup {
  const goesOn =
    older.manifest.timeline === newer.manifest.timeline &&
    older.logEnd.to > newer.logEnd.to &&
    older.logEnd.at > newer.logEnd.at;
  return goesOn ? older : newer;
}

function whyNone(
  place: Place,
  at: Date | undefined,
  found: readonly (Backup | Unreadable)[],
  readable: readonly Backup[],
): string {
  if (found.length === 0)
    return `${place.address} has no finished backup: name the place that "backup create --to" was given`;
  const faults = found.flatMap((one) => ('fault' in one ? [one.fault.message] : []));
  const windows = readable.map(
    ({ manifest, logEnd }) => `from ${manifest.at} until before ${logEnd.at.toISOString()}`,
  );
  const choice = `choose a time in one of these: ${windows.join(', ')}`;
  if (windows.length === 0) return faults[0] ?? '';
  if (at === undefined) return `${faults[0]}; or restore an older state with --at, and ${choice}`;
  return [`no backup in ${place.address} leads to ${at.toISOString()}; ${choice}`, ...faults].join('; ');
}

/** Throws `BackupError` if the files of the backup do not work here. */
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

/** The position that the log of a backup has to reach at least. */
export function neededLogEnd({ manifest, logEnd }: Backup): bigint {
  const base = readLsn(manifest.logTo);
  return logEnd.to > base ? logEnd.to : base;
}

async function readSealed<T>(place: Place, key: BackupKey, name: string): Promise<T> {
  const object = await place.get(name);
  if (object === undefined) {
    throw new UnreadableBackupError(
      `${name} is missing in ${place.address}: the backup was cut off, use another one`,
    );
  }
  return JSON.parse((await key.open(name, object)).toString()) as T;
}
