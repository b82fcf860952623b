/**
 * Makes a base backup of the embedded store while it runs (README.md). Reads the cluster's files, calls PostgreSQL's
 * backup functions, writes objects of the place.
 */
import type pg from 'pg';
import type { Clock } from '../../ground/base/clock.ts';
import type { Administration } from '../../ground/embedded/administer.ts';
import type { Place } from '../../ground/places/place.ts';
import { filesOf } from './base/files.ts';
import { packed } from './base/volumes.ts';
import { BackupError, inMiB } from './errors.ts';
import { type Archive, archiveLog } from './log/archive.ts';
import { readLsn, segmentStart } from './log/lsn.ts';
import { keepSlot, LOCKS, makeSlot, type Slot, withLock } from './log/slot.ts';
import { finishedBackups, PLATFORM, storeManifest } from './manifest.ts';
import { backupsOf, namesOfBackups, nextBackup, volumeName } from './names.ts';
import { removeUnfinished } from './retention.ts';
import type { BackupKey } from './sealed.ts';

interface CreateOptions {
  readonly place: Place;
  readonly key: BackupKey;
  /**
   * Whether the log is archived further by the slot of this backup (`archiveLog`), and no longer by those of older
   * ones.
   */
  readonly keepLog: boolean;
  /**
   * After each volume the backup rests this many times as long as the volume took, so that the requests are not
   * slowed.
   */
  readonly rest: number;
  readonly signal: AbortSignal;
}

export interface Created {
  readonly name: string;
  /** The size of the files that were copied. */
  readonly bytes: number;
  /** The earliest moment that a restore can reach. */
  readonly at: string;
}

/** The checkpoint that a backup begins with writes everything that is not on disk yet. */
const START_TIMEOUT_MS = 15 * 60_000;
/** While files are copied the server keeps the log, so it is archived this often. */
const ARCHIVE_EVERY_MS = 10_000;

const FACTS = `
  SELECT system_identifier::text AS store, current_setting('server_version_num')::integer / 10000 AS major,
    (SELECT timeline_id FROM pg_control_checkpoint()) AS timeline,
    (SELECT sum(pg_database_size(d.oid)) FROM pg_database d) AS bytes
  FROM pg_control_system()`;
const START = "SELECT pg_backup_start('ventanilla', true) AS lsn";
/** The time is rounded up: a moment of a whole millisecond before the end cannot be restored. */
const STOP = `
  SELECT lsn, labelfile AS label, to_char(date_trunc('milliseconds', clock_timestamp() + interval '1 millisecond')
    AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at
  FROM pg_backup_stop(false)`;
/** A pause, after which the log ends later than the time of `STOP`, so that this moment can be restored. */
const PASS = 'SELECT pg_sleep(0.002)';

interface Facts {
  readonly store: string;
  readonly major: number;
  readonly timeline: number;
  /** About the size of the files that are copied. */
  readonly bytes: string;
}

/**
 * Makes a backup of the running server. If it fails or the process dies, the backup has no manifest, and the server
 * forgets it. Throws `BackupError` if another backup is under way, the place has backups of another store or key or too
 * little room, or the server had to throw away log that the backup needs; and the signal's reason.
 */
export async function createBackup(server: Administration, options: CreateOptions): Promise<Created> {
  const made = await withLock(server.client, LOCKS.base, () => create(server, options));
  if (made !== undefined) return made;
  throw new BackupError('another backup of this store is under way: wait until it is finished');
}

async function create(server: Administration, options: CreateOptions): Promise<Created> {
  const { client, directory, password } = server;
  const { place, key, keepLog } = options;
  const facts = await ask<Facts>(client, FACTS);
  await refuseOtherStore(place, key, facts.store);
  await removeUnfinished(place);
  await refuseFull(place, Number(facts.bytes));
  const name = nextBackup(backupsOf(await namesOfBackups(place)));
  const archive = { client, directory, place, key };
  const slot = await makeSlot(client, name);
  const { lsn: from } = await ask<{ lsn: string }>(client, START, START_TIMEOUT_MS);
  // Recovery reads the file of the log from its beginning.
  const archiving = { archive, slot: { ...slot, archivedTo: segmentStart(readLsn(from)) } };
  const copied = await copyFiles(server.clock, archiving, options);
  const stop = await ask<{ lsn: string; label: string; at: string }>(client, STOP);
  await client.query(PASS);
  await archiveOn(archiving);
  await refuseLost(place, name, copied.volumes);
  await storeManifest(place, key, name, {
    store: facts.store,
    postgres: String(facts.major),
    platform: PLATFORM,
    at: stop.at,
    password,
    volumes: copied.volumes,
    bytes: copied.bytes,
    label: stop.label,
    timeline: facts.timeline,
    logFrom: from,
    logTo: stop.lsn,
  });
  if (keepLog) await keepSlot(client, slot);
  return { name, bytes: copied.bytes, at: stop.at };
}

/** Backups that cannot be read do not count. If none can be read, the key is another one. */
async function refuseOtherStore(place: Place, key: BackupKey, store: string): Promise<void> {
  let fault: BackupError | undefined;
  for await (const found of finishedBackups(place, key)) {
    if ('fault' in found) {
      fault ??= found.fault;
      continue;
    }
    if (found.manifest.store === store) return;
    throw new BackupError(
      `${place.address} has backups of another store: give each store a place of its own`,
    );
  }
  if (fault !== undefined) throw fault;
}

/** Without this a backup that rests between its volumes would find out only when the place is full. */
async function refuseFull(place: Place, bytes: number): Promise<void> {
  const room = await place.room();
  if (room === null || room >= bytes) return;
  throw new BackupError(
    `the place of the backups, ${place.address}, has room for ${inMiB(room)} MiB, and a backup needs about ${inMiB(bytes)} MiB: make room or set another place`,
  );
}

/** Throws if a volume is gone: a process of another store at the same place removes what is not finished. */
async function refuseLost(place: Place, backup: string, volumes: number): Promise<void> {
  const names = new Set(await place.list(`${backup}/`));
  for (let number = 1; number <= volumes; number += 1) {
    if (names.has(volumeName(backup, number))) continue;
    throw new BackupError(
      `${volumeName(backup, number)} has vanished from ${place.address} meanwhile: give each store a place of its own`,
    );
  }
}

interface Archiving {
  readonly archive: Archive;
  slot: Slot;
}

async function copyFiles(clock: Clock, archiving: Archiving, { place, key, rest, signal }: CreateOptions) {
  const { archive, slot } = archiving;
  let volumes = 0;
  let bytes = 0;
  let archivedAtMs = clock.monotonicMs();
  for await (const volume of packed(filesOf(archive.directory))) {
    const sinceMs = clock.monotonicMs();
    signal.throwIfAborted();
    volumes += 1;
    bytes += volume.length;
    const name = volumeName(slot.backup, volumes);
    await place.put(name, await key.seal(name, volume));
    if (rest > 0) await clock.sleep(rest * (clock.monotonicMs() - sinceMs), { signal });
    if (clock.monotonicMs() - archivedAtMs > ARCHIVE_EVERY_MS) {
      await archiveOn(archiving);
      archivedAtMs = clock.monotonicMs();
    }
  }
  return { volumes, bytes };
}

/** Archives the log that was written since the last time. */
async function archiveOn(archiving: Archiving): Promise<void> {
  const { to } = await archiveLog(archiving.archive, archiving.slot);
  archiving.slot = { ...archiving.slot, archivedTo: BigInt(to) };
}

async function ask<Row extends pg.QueryResultRow>(
  client: pg.Client,
  text: string,
  timeoutMs?: number,
): Promise<Row> {
  const { rows } = await client.query<Row>({ text, ...(timeoutMs && { query_timeout: timeoutMs }) });
  return rows[0]!;
}
