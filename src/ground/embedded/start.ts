/**
 * Starts the embedded PostgreSQL with settings for this machine's memory and disk, and reads from its log why a start
 * failed. Touches processes, the log's file, a port and the disk. The settings and their reasons are here.
 */
import { spawn } from 'node:child_process';
import { type FileHandle, open, rename, stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import { workOn } from './account.ts';
import type { Cluster } from './cluster.ts';
import { DiskFullError, EmbeddedError, explainPath } from './errors.ts';
import { clusterMark, findPostmaster } from './postmaster.ts';

interface Setting {
  readonly name: string;
  readonly value: string;
  readonly why: string;
}

const MIB = 1024 * 1024;

/**
 * `shared_buffers` for a machine or container with this much memory: a quarter, from 128 MiB to 8 GiB. Unused buffers
 * take almost no memory: only the server's tables about them, 22 MB for each GiB. The rest is for the service and for
 * the system's cache of files.
 *
 * Measured with 8 million open phones (510 MB, touched at random), batches of 100, twice each, alternating, two shared
 * cores: 256 MiB 71,094 applications a second and 12.2 us of PostgreSQL's CPU, 1 GiB 65,955 and 12.6, 2 GiB 63,363 and
 * 13.6. So more than 256 MiB gains nothing while the system's cache holds the pages. A store larger than the memory is
 * not measured; for that PostgreSQL's manual advises a quarter.
 */
export function sharedBuffersMiB(memoryBytes: number): number {
  return Math.round(Math.min(8192, Math.max(128, memoryBytes / 4 / MIB)));
}

/**
 * `max_wal_size` for this memory and disk: twice `shared_buffers`, from 1 GiB to 8 GiB, and at most a tenth of the
 * disk. If the log reaches it, a checkpoint comes before its time, and after each checkpoint the first change of a
 * page writes the whole page. More would make the recovery after a crash longer.
 */
export function maxWalSizeMiB(memoryBytes: number, diskBytes: number): number {
  const wanted = Math.min(8192, Math.max(1024, 2 * sharedBuffersMiB(memoryBytes)));
  return Math.round(Math.max(128, Math.min(wanted, diskBytes / 10 / MIB)));
}

/**
 * `max_slot_wal_keep_size` for this disk: how much of the log is kept for a backup that nobody continues. A tenth of
 * the disk, from 256 MiB to 64 GiB. Beyond it the server drops the log, and the next backup begins with a new base.
 */
export function maxKeptLogMiB(diskBytes: number): number {
  return Math.round(Math.max(256, Math.min(65_536, diskBytes / 10 / MIB)));
}

function memoryBytes(): number {
  // A container's limit counts before the machine's memory. Without a limit Node gives 0 or an absurd number.
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/**
 * The settings in which the embedded server differs from PostgreSQL's defaults, or relies on them. They are passed as
 * `-c` flags. Settings that a session can make are in `ground/postgres/session.ts`, so that it holds on every server.
 */
const FIXED: readonly Setting[] = [
  { name: 'fsync', value: 'on', why: 'an answered batch survives a power cut' },
  { name: 'synchronous_commit', value: 'on', why: 'the same; off would gain a fifth and is refused' },
  { name: 'full_page_writes', value: 'on', why: 'a page torn by a power cut can be repaired' },
  { name: 'restart_after_crash', value: 'on', why: 'a crashed backend costs a second, not the service' },

  { name: 'listen_addresses', value: '127.0.0.1', why: 'only this machine may connect' },
  { name: 'unix_socket_directories', value: '', why: 'a socket needs a short path that all may enter' },
  {
    name: 'max_connections',
    value: '100',
    why: 'several processes with their pools, and one to look inside',
  },
  { name: 'idle_session_timeout', value: '0', why: 'the connection that says "in use" is idle all its life' },

  { name: 'checkpoint_timeout', value: '15min', why: 'each checkpoint makes every page cost a full image' },
  { name: 'checkpoint_completion_target', value: '0.9', why: 'spreads the writes of a checkpoint' },
  { name: 'wal_compression', value: 'off', why: 'costs 15 % of the ingest rate when CPU is what is short' },
  { name: 'max_logical_replication_workers', value: '0', why: 'nothing subscribes: one process less' },

  { name: 'log_timezone', value: 'UTC', why: 'lines up with the service log' },
  { name: 'log_destination', value: 'stderr', why: 'the supervisor hands in the log file' },
  { name: 'logging_collector', value: 'off', why: 'one process less; the log is nearly silent' },
  {
    name: 'log_min_messages',
    value: 'log',
    why: 'drops warnings and errors, whose texts quote values ("invalid input syntax ..."): personal data; the service gets them as answers. Keeps start, recovery, crash and FATAL',
  },
  { name: 'log_min_error_statement', value: 'panic', why: 'statements hold personal data' },
  { name: 'log_statement', value: 'none', why: 'the same' },
  { name: 'log_min_duration_statement', value: '-1', why: 'the same' },
  { name: 'log_parameter_max_length', value: '0', why: 'parameters hold personal data' },
  { name: 'log_parameter_max_length_on_error', value: '0', why: 'the same' },
  { name: 'log_error_verbosity', value: 'terse', why: 'DETAIL lines quote the row' },
  { name: 'log_lock_waits', value: 'off', why: 'its lines quote the statement' },
  { name: 'log_checkpoints', value: 'off', why: 'bounds the log: nothing is written while all is well' },
  { name: 'log_autovacuum_min_duration', value: '-1', why: 'the same' },
];

/** All settings, for a machine or container with its memory and a disk of this size. */
export function settings(diskBytes: number): readonly Setting[] {
  const memory = memoryBytes();
  return [
    ...FIXED,
    {
      name: 'shared_buffers',
      value: `${sharedBuffersMiB(memory)}MB`,
      why: 'the service and the cache of the system need the rest',
    },
    {
      name: 'max_wal_size',
      value: `${maxWalSizeMiB(memory, diskBytes)}MB`,
      why: 'checkpoints by the clock, not in the middle of a busy hour',
    },
    {
      name: 'max_slot_wal_keep_size',
      value: `${maxKeptLogMiB(diskBytes)}MB`,
      why: 'the log that waits for a backup does not fill the disk',
    },
  ];
}

/** All settings as command-line arguments of `postgres`. */
function settingArguments(diskBytes: number): string[] {
  return settings(diskBytes).flatMap(({ name, value }) => ['-c', `${name}=${value}`]);
}

export const POLL_MS = 20;
const GAVE_WAY_MS = 100;
const CLEANLY = 'a clean shutdown';

/** One older log is kept, so both take at most twice this and what one run writes. */
const LOG_ROTATED_ABOVE_BYTES = 4 * 1024 * 1024;

/** How much of the log's end is searched for the reason of a failed start. */
const LOG_TAIL_BYTES = 16 * 1024;

/** Two WAL segments and a little more. */
const LITTLE_SPACE_BYTES = 48 * 1024 * 1024;

/**
 * A failed start with one of these reasons may succeed when repeated: the port was taken since it was chosen, another
 * process's server has the directory, or processes of a killed server are still ending.
 */
const PASSING =
  /Address already in use|lock file .*(already exists|is empty)|pre-existing shared memory block/;

/** The wanted port, and the signal that ends the wait. */
export interface StartOptions {
  readonly signal?: AbortSignal | undefined;
  /** Used if it is free. */
  readonly port?: number | undefined;
  /** Settings of this start alone, as arguments of `postgres`. */
  readonly settings?: readonly string[];
}

/**
 * Starts a server for the cluster. Returns when it takes connections, when it gave way to another server (look
 * again), or at `deadline` (on `Clock.monotonicMs`). At the deadline, and if `signal` aborts, the server goes
 * on starting, because a crash recovery that is stopped has to begin again. Throws `EmbeddedError` with the reason
 * from the log if the server cannot start, and the signal's reason if `signal` aborts.
 */
export async function startPostmaster(
  cluster: Cluster,
  deadline: number,
  { signal, port: wantedPort = 0, settings = [] }: StartOptions,
): Promise<void> {
  const { clock } = cluster;
  const port = await freePort(wantedPort).catch(() => freePort(0));
  const mark = await clusterMark(cluster.directory);
  const { blocks, bsize } = await statfs(cluster.directory);
  const { log, size } = await openLog(cluster.logFile);
  try {
    const child = launch(cluster, log, [
      '-c',
      mark,
      '-c',
      `port=${port}`,
      ...settingArguments(blocks * bsize),
      ...settings,
    ]);
    const ended: { how?: string } = {};
    child.on('error', (error) => {
      ended.how = error.message;
    });
    child.on('exit', (code, signal) => {
      ended.how = code === 0 ? CLEANLY : `ended by ${signal ?? `exit code ${code}`}`;
    });
    while (clock.monotonicMs() < deadline) {
      if (ended.how !== undefined) return await throwStartFailure(cluster, size, ended.how);
      const found = await findPostmaster(cluster.directory, clock);
      if (found?.pid === child.pid && found?.ready) return;
      await clock.sleep(POLL_MS, { signal }).catch(async (error: unknown) => {
        // Without a postmaster.pid no process would find this server.
        if ((await findPostmaster(cluster.directory, clock))?.pid !== child.pid) child.kill('SIGINT');
        throw error;
      });
    }
  } finally {
    await log.close();
  }
}

function launch(cluster: Cluster, log: FileHandle, settings: readonly string[]) {
  const { options, dataArgument } = workOn(cluster.directory, cluster.account);
  const child = spawn(cluster.binaries.postgres, ['-D', dataArgument, ...settings], {
    ...options,
    // Ctrl-C in the terminal is for the service, which stops the server when it no longer needs it.
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  child.unref();
  return child;
}

/** Throws the reason why a server ended at its start; returns after a moment if another attempt may succeed. */
async function throwStartFailure(cluster: Cluster, logSize: number, how: string): Promise<void> {
  // Another process found the server ready, used it and stopped it, all between two looks.
  if (how === CLEANLY) return;
  const lines = await logTail(cluster.logFile, logSize);
  if (lines.some((line) => PASSING.test(line))) return await cluster.clock.sleep(GAVE_WAY_MS);
  const reason = lines.findLast((line) => /FATAL|PANIC|^postgres:/.test(line)) ?? how;
  // The server reports a full disk as an error, and the settings keep errors out of the log.
  const { bavail, bsize } = await statfs(cluster.directory);
  const isFull = bavail * bsize < LITTLE_SPACE_BYTES;
  const free = isFull ? '; its disk is nearly full' : '';
  throw new (isFull ? DiskFullError : EmbeddedError)(
    `PostgreSQL did not start in ${cluster.directory}: ${reason}${free} (see ${cluster.logFile})`,
  );
}

/** The lines of the log from a position on, at most the last 16 KiB. */
export async function logTail(file: string, from = 0): Promise<string[]> {
  const log = await open(file, 'r').catch(() => undefined);
  if (log === undefined) return [];
  try {
    const { size } = await log.stat();
    const start = Math.max(from > size ? 0 : from, size - LOG_TAIL_BYTES);
    const { buffer, bytesRead } = await log.read(Buffer.alloc(size - start), 0, size - start, start);
    return buffer.subarray(0, bytesRead).toString().trim().split('\n');
  } finally {
    await log.close();
  }
}

async function openLog(file: string): Promise<{ log: FileHandle; size: number }> {
  try {
    const before = await stat(file).catch(() => undefined);
    if (before !== undefined && before.size > LOG_ROTATED_ABOVE_BYTES) await rename(file, `${file}.1`);
    const log = await open(file, 'a', 0o600);
    return { log, size: (await log.stat()).size };
  } catch (error) {
    throw explainPath(error, file);
  }
}

/** The port, or any port for 0, if it is free on loopback at this moment. */
function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ host: '127.0.0.1', port: wanted }, () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
