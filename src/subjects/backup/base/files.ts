/**
 * Reads the files of a running cluster for a base backup, after PostgreSQL's manual, "Backing Up the Data Directory".
 */
import type { Dirent } from 'node:fs';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../../ground/base/describe-error.ts';
import { BackupError } from '../errors.ts';

/** A folder, or bytes of a file at a position; paths are below the folder of the cluster. */
export type FilePart =
  | { readonly folder: string }
  | { readonly file: string; readonly at: number; readonly bytes: Buffer };

const PART_BYTES = 1024 * 1024;

/** Folders that stay empty: a start makes their files again, and the log is archived separately. */
const EMPTIED =
  /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\//;
const LEFT_OUT = [
  /^postmaster\./,
  /(^|\/)pg_internal\.init/,
  /(^|\/)pgsql_tmp/,
  /\/t\d+_\d+(_|\.|$)/,
  /^(backup_label|tablespace_map|recovery\.signal|standby\.signal)/,
];
/** Says where recovery begins, so it is read last: then it is at least as new as all files. */
const CONTROL = 'global/pg_control';

/**
 * Everything of the cluster, part by part. Files may change and vanish meanwhile; recovery corrects that from the log.
 */
export async function* filesOf(cluster: string): AsyncGenerator<FilePart> {
  const files: string[] = [];
  for await (const { path, entry } of entriesOf(cluster, '')) {
    if (entry.isSymbolicLink()) {
      throw new BackupError(
        `${path} of the store is a link, and a backup does not follow links: move its files back`,
      );
    }
    const isKept = !(EMPTIED.test(path) || LEFT_OUT.some((pattern) => pattern.test(path)));
    // The folders below pg_wal are needed.
    if (entry.isDirectory() && (isKept || path.startsWith('pg_wal/'))) yield { folder: path };
    else if (entry.isFile() && isKept && path !== CONTROL) files.push(path);
  }
  for (const file of files) yield* partsOf(cluster, file);
  yield { file: CONTROL, at: 0, bytes: await readControl(join(cluster, CONTROL)) };
}

/** All entries below a folder, each folder before what is in it. A folder may vanish meanwhile. */
async function* entriesOf(cluster: string, folder: string): AsyncGenerator<{ path: string; entry: Dirent }> {
  const entries = await readdir(join(cluster, folder), { withFileTypes: true }).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  for (const entry of entries) {
    const path = join(folder, entry.name);
    yield { path, entry };
    if (entry.isDirectory()) yield* entriesOf(cluster, path);
  }
}

/** The server may be writing the file, and a store with a torn one does not start. Two equal readings are not torn. */
async function readControl(path: string): Promise<Buffer> {
  let bytes = await readFile(path);
  for (let tries = 0; tries < 100; tries += 1) {
    const again = await readFile(path);
    if (again.equals(bytes)) return again;
    bytes = again;
  }
  throw new BackupError(`${path} changes all the time: try again`);
}

async function* partsOf(cluster: string, file: string): AsyncGenerator<FilePart> {
  const handle = await open(join(cluster, file), 'r').catch((error: unknown) => {
    // The file of a table that was dropped since its name was read.
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (handle === undefined) return;
  try {
    // A file that grows meanwhile is read up to its present size: the log has the rest.
    const { size } = await handle.stat();
    if (size === 0) yield { file, at: 0, bytes: Buffer.alloc(0) };
    for (let at = 0; at < size; ) {
      const wanted = Math.min(PART_BYTES, size - at);
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, at);
      if (bytesRead === 0) return;
      yield { file, at, bytes: buffer.subarray(0, bytesRead) };
      at += bytesRead;
    }
  } finally {
    await handle.close();
  }
}
