/**
 * Restores a backup into a data directory, or into a scratch folder for a check (README.md). Reads the place, writes
 * files, runs an embedded server.
 */
import { mkdir, readdir, rm, rmdir, statfs, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Clock } from '../../ground/base/clock.ts';
import { serverAccount } from '../../ground/embedded/account.ts';
import { findBinaries } from '../../ground/embedded/binaries.ts';
import { SERVICE_PASSWORD_FILE } from '../../ground/embedded/cluster.ts';
import { EmbeddedError } from '../../ground/embedded/errors.ts';
import { recoverCluster } from '../../ground/embedded/recover.ts';
import { clearRecoveries } from '../../ground/embedded/recoveries.ts';
import type { EmbeddedConnection } from '../../ground/embedded/session.ts';
import type { Place } from '../../ground/places/place.ts';
import { unpack } from './base/volumes.ts';
import { BackupError, inMiB } from './errors.ts';
import { historyName, readLsn, segmentStart, writeLsn } from './log/lsn.ts';
import { placeLog } from './log/place-log.ts';
import { type Backup, chooseBackup, neededLogEnd, newestTimeline, refuseForeign } from './manifest.ts';
import { type Piece, piecesOf, volumeName } from './names.ts';
import type { BackupKey } from './sealed.ts';

export interface RestoreOptions {
  readonly clock: Clock;
  readonly place: Place;
  readonly key: BackupKey;
  /** The moment that is restored; undefined: the newest. */
  readonly at?: Date | undefined;
  /** The backup to restore; undefined: the one that leads to the moment. */
  readonly backup?: Backup;
  /** Checks the restored store. If it throws, the restore is undone. */
  readonly check: (connection: EmbeddedConnection, restored: Restored) => Promise<void>;
  /** Ends the restore early. */
  readonly signal: AbortSignal;
}

export interface Restored {
  readonly name: string;
  /** The moment of the restored store, by the clock of the database. */
  readonly at: Date;
  readonly bytes: number;
}

/** How many volumes are opened and written at once: one is decrypted while another one is written. */
const AT_ONCE = 2;
/** PostgreSQL's log, which an `EmbeddedError` names. */
const LOGS = ['postgres.log', 'postgres.log.1'];
/** What a restore makes beside the cluster, and what a killed one leaves, such as the store of documents. */
const BESIDE = [...LOGS, 'documents', 'postgres.password', SERVICE_PASSWORD_FILE];
/** A new disk has `lost+found`. */
const HARMLESS = ['lost+found', ...BESIDE];

/**
 * Restores into `dataDir`, which must be absent or empty. If anything fails, nothing is left of it, except PostgreSQL's
 * log if PostgreSQL itself failed. Throws `BackupError` with what to do.
 */
export async function restoreBackup(dataDir: string, options: RestoreOptions): Promise<Restored> {
  const home = resolve(dataDir);
  const made = await mkdir(home, { recursive: true, mode: 0o700 });
  try {
    return await restoreEmpty(home, options);
  } catch (error) {
    // A folder with anything in it stays.
    if (made !== undefined)
      for (let folder = home; folder.startsWith(resolve(made)); folder = dirname(folder))
        await rmdir(folder).catch(() => {});
    throw error;
  }
}

async function restoreEmpty(home: string, options: RestoreOptions): Promise<Restored> {
  if (await clearRecoveries(home, options.clock)) {
    throw new BackupError(`another restore into DATA_DIR ${home} is under way: wait until it is over`);
  }
  const before = await readdir(home);
  const names = before.filter((name) => !HARMLESS.includes(name));
  if (names.length > 0) {
    throw new BackupError(
      `DATA_DIR ${home} is not empty (${names[0]}): stop the service, move the folder away, and restore into an empty one`,
    );
  }
  await rm(join(home, 'postgres.password'), { force: true });
  try {
    return await restoreInto(home, options, true);
  } catch (error) {
    const kept = [...before, ...(error instanceof EmbeddedError ? LOGS : [])];
    // Files of another restore that began at the same moment are not ours.
    if (!(await clearRecoveries(home, options.clock)))
      for (const name of BESIDE.filter((one) => !kept.includes(one)))
        await rm(join(home, name), { recursive: true, force: true });
    throw error;
  }
}

/** Restores into a folder that exists. With `keep` false nothing stays. */
export async function restoreInto(home: string, options: RestoreOptions, keep: boolean): Promise<Restored> {
  const { clock, place, key, at, check, signal } = options;
  const backup = options.backup ?? (await chooseBackup(place, key, at));
  refuseForeign(backup, (await findBinaries(serverAccount(), clock)).major);
  await refuseSmall(home, backup);
  const { manifest, name, logEnd } = backup;
  const restored = { name, at: at ?? logEnd.at, bytes: manifest.bytes };
  let logFault: BackupError | null = null;
  await recoverCluster({
    clock,
    home,
    password: manifest.password,
    until: at,
    keep,
    check: (connection) => check(connection, restored),
    signal,
    fill: async (directory) => {
      await writeFiles(directory, backup, options);
      await writeFile(join(directory, 'backup_label'), manifest.label, { mode: 0o600 });
      await takeTimelines(join(directory, 'pg_wal'), manifest.timeline, await newestTimeline(place, key));
      const log = logOf(piecesOf(await place.list(`${name}/`)), backup, place);
      await placeLog({ place, key }, log, manifest.timeline, join(directory, 'pg_wal')).catch((error) => {
        // The moment may be before the damage: PostgreSQL finds out.
        if (at === undefined || !(error instanceof BackupError)) throw error;
        logFault = error;
      });
    },
  }).catch((error: unknown) => {
    throw error instanceof EmbeddedError ? (logFault ?? error) : error;
  });
  return restored;
}

/**
 * Gives the restored store a timeline after those of all backups of the place, so that no two restores share one
 * (`laterBackups`). PostgreSQL takes the first timeline without a history file in the folder of its log. PostgreSQL
 * looks only whether these files exist.
 */
async function takeTimelines(log: string, own: number, newest: number): Promise<void> {
  for (let taken = own + 1; taken <= newest; taken += 1) {
    await writeFile(join(log, historyName(taken)), '', { mode: 0o600 });
  }
}

async function writeFiles(directory: string, backup: Backup, options: RestoreOptions): Promise<void> {
  const { place, key, signal } = options;
  const { name, manifest } = backup;
  const write = async (number: number) => {
    signal.throwIfAborted();
    await unpack(await readVolume(place, key, volumeName(name, number)), directory);
  };
  // The first volume makes the folders. The parts of the other volumes do not overlap.
  await write(1);
  let next = 2;
  const writer = async () => {
    while (next <= manifest.volumes) {
      await write(next++).catch((error: unknown) => {
        next = Number.POSITIVE_INFINITY;
        throw error;
      });
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, writer));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

async function readVolume(place: Place, key: BackupKey, name: string): Promise<Buffer> {
  const object = await place.get(name);
  if (object !== undefined) return key.open(name, object);
  throw new BackupError(`${name} is missing in ${place.address}: the backup was cut off, use another one`);
}

/** The pieces of the log, in order. Throws `BackupError` instead of the first one that is missing. */
function* logOf(pieces: readonly Piece[], backup: Backup, place: Place): Generator<Piece, void> {
  let reached = segmentStart(readLsn(backup.manifest.logFrom));
  for (const piece of pieces) {
    if (piece.from > reached) break;
    yield piece;
    if (piece.to > reached) reached = piece.to;
  }
  if (reached >= neededLogEnd(backup)) return;
  throw new BackupError(
    `the log of ${backup.name} in ${place.address} is cut off at ${writeLsn(reached)}: use another backup`,
  );
}

/** Throws if the disk has no room for the files and the log, in their unpacked size. */
async function refuseSmall(home: string, backup: Backup): Promise<void> {
  const { bavail, bsize } = await statfs(home);
  const log = neededLogEnd(backup) - segmentStart(readLsn(backup.manifest.logFrom));
  const needed = backup.manifest.bytes + Number(log);
  if (bavail * bsize >= needed) return;
  throw new BackupError(
    `${home} has room for ${inMiB(bavail * bsize)} MiB, and the backup needs ${inMiB(needed)} MiB: make room ("backup verify" uses the folder of TMPDIR)`,
  );
}
