/**
 * Copies the write-ahead log from the server's disk to the place of the backups (README.md). Reads `pg_wal`, writes
 * objects of the place, moves the slot.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import type { Place } from '../../../ground/places/place.ts';
import { logEndName, pieceName } from '../names.ts';
import type { BackupKey } from '../sealed.ts';
import { readLsn, SEGMENT_BYTES, segmentName, segmentStart } from './lsn.ts';
import { moveSlot, type Slot } from './slot.ts';

/** The server whose log is copied, and the place that gets it. */
export interface Archive {
  readonly client: pg.Client;
  /** The folder of the cluster's files. */
  readonly directory: string;
  readonly place: Place;
  readonly key: BackupKey;
}

/** How far the archived log of a backup reaches. */
export interface LogEnd {
  /** A position as a decimal number. */
  readonly to: string;
  /** The log has every commit before this time of the database, and a commit after it. */
  readonly at: string;
}

/**
 * Makes a commit after `at`, because a restore to a time stops at the first later commit. It also makes the server
 * write the log to disk.
 */
const MARK = `
  SELECT clock_timestamp() AS at, pg_logical_emit_message(true, 'ventanilla backup', '') IS NOT NULL AS marked`;
const REACHED = `
  SELECT pg_current_wal_flush_lsn() AS to, timeline_id AS timeline FROM pg_control_checkpoint()`;

/**
 * Archives the log from the slot's position up to the end of what is on the server's disk, and moves the slot. A call
 * that fails is repeated later; then two pieces may have the same bytes.
 */
export async function archiveLog(archive: Archive, slot: Slot): Promise<LogEnd> {
  const { client, place, key } = archive;
  const at = (await client.query<{ at: Date }>(MARK)).rows[0]!.at;
  const { to: text, timeline } = (await client.query<{ to: string; timeline: number }>(REACHED)).rows[0]!;
  const to = readLsn(text);
  for (let begin = slot.archivedTo; begin < to; ) {
    const next = segmentStart(begin) + SEGMENT_BYTES;
    const end = next < to ? next : to;
    const bytes = await readLog(join(archive.directory, 'pg_wal', segmentName(timeline, begin)), begin, end);
    const name = pieceName(slot.backup, begin, end);
    await place.put(name, await key.seal(name, bytes));
    begin = end;
  }
  const logEnd = { to: String(to), at: at.toISOString() };
  const name = logEndName(slot.backup);
  await place.put(name, await key.seal(name, Buffer.from(JSON.stringify(logEnd))));
  await moveSlot(client, slot, to);
  return logEnd;
}

async function readLog(file: string, from: bigint, to: bigint): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    const bytes = Buffer.alloc(Number(to - from));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, Number(from - segmentStart(from)));
    if (bytesRead !== bytes.length) throw new Error(`${file} ends before the log does`);
    return bytes;
  } finally {
    await handle.close();
  }
}
