import { spawn } from 'node:child_process';
import { type FileHandle, open, rename, stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { workOn } from './account.ts';
import type { Cluster } from './cluster.ts';
import { DiskFullError, EmbeddedError, explainPath } from './errors.ts';
import { clusterMark, findPostmaster } from './postmaster.ts';
import { settingArguments } from './settings.ts';

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
