/**
 * Finds out which server runs on a cluster, by its postmaster.pid and the list of processes, and removes a stale
 * postmaster.pid (README.md). The form of that file is PostgreSQL's.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/describe-error.ts';

/** A server of a cluster, according to its postmaster.pid. */
interface Postmaster {
  readonly pid: number;
  /** 0 until the port is known. */
  readonly port: number;
  /** False while the server starts, recovers or stops. */
  readonly ready: boolean;
}

/** PostgreSQL writes its pid a moment after it creates the file. A file that stays empty is left from a power cut. */
const EMPTY_IS_STALE_AFTER_MS = 5_000;

/**
 * The argument that marks a server of this very directory. The process list shows arguments to every user; in an
 * ordinary container even root cannot read the working directory of another uid's process. The mark is device and
 * inode, because a path may be moved, or mean another directory to another process.
 */
export async function clusterMark(directory: string): Promise<string> {
  const { dev, ino } = await stat(directory, { bigint: true });
  return `ventanilla.cluster=${dev}:${ino}`;
}

/**
 * The server that runs on the cluster, if one does. Removes a postmaster.pid whose process is another program: pids
 * repeat in containers, and PostgreSQL would refuse to start because of it.
 */
export async function findPostmaster(directory: string, clock: Clock): Promise<Postmaster | undefined> {
  const file = join(directory, 'postmaster.pid');
  const contents = await readIfThere(file);
  if (contents === undefined) return undefined;
  const lines = contents.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) {
    if (await isOlderThan(file, EMPTY_IS_STALE_AFTER_MS, clock)) await removeStale(file, contents);
    return { pid: 0, port: 0, ready: false };
  }
  switch (await whoIs(pid, directory)) {
    case 'server':
      return { pid, port: Number(lines[3] ?? 0), ready: lines[7] === 'ready' };
    case 'stranger':
      await removeStale(file, contents);
      return undefined;
    case 'nobody':
      // The file stays: PostgreSQL takes it over, and finds by it those processes of the old server that still run.
      return undefined;
  }
}

/** Whether `pid` is still a server of the cluster. */
export async function isServer(pid: number, directory: string): Promise<boolean> {
  return (await whoIs(pid, directory)) === 'server';
}

async function whoIs(pid: number, directory: string): Promise<'server' | 'stranger' | 'nobody'> {
  if (!exists(pid)) return 'nobody';
  const args = await commandLine(pid);
  if (args === undefined) return 'nobody';
  // Without arguments the process has ended and waits for its parent, in a container perhaps for ever. PostgreSQL
  // would take the pid for alive, so it counts as a stranger.
  if (args[0] === '') return 'stranger';
  if (args.includes(await clusterMark(directory))) return 'server';
  const program = args[0]!.split('/').at(-1);
  if (program !== 'postgres' || args.some((arg) => arg.startsWith('ventanilla.cluster='))) return 'stranger';
  // A postgres that was started by hand: its working directory tells whether it works on this cluster. If that cannot
  // be read, it counts as this cluster's server, because to remove the file of a living server would stop it.
  const [works, cluster] = await Promise.all([
    stat(`/proc/${pid}/cwd`, { bigint: true }).catch(() => undefined),
    stat(directory, { bigint: true }),
  ]);
  const elsewhere = works !== undefined && (works.dev !== cluster.dev || works.ino !== cluster.ino);
  return elsewhere ? 'stranger' : 'server';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

async function commandLine(pid: number): Promise<string[] | undefined> {
  const raw = await readIfThere(`/proc/${pid}/cmdline`);
  if (raw !== undefined) return raw.split('\0');
  if (process.platform === 'linux') return undefined;
  // macOS has no /proc.
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'args=', '-p', String(pid)], {
    timeout: 5_000,
    env: { PATH: process.env.PATH },
  }).catch(() => ({ stdout: '' }));
  return stdout.trim().split(' ');
}

/**
 * Removes a postmaster.pid that has these contents. That is safe even if the judgement was wrong, or another process
 * starts a server at the same moment: a changed file is put back, and PostgreSQL also guards a directory by a shared
 * memory segment, keyed by the directory's inode: it refuses to start while a process of an older server is attached
 * to that.
 */
async function removeStale(file: string, contents: string): Promise<void> {
  const aside = `${file}.stale-${randomBytes(4).toString('hex')}`;
  try {
    await rename(file, aside);
    if ((await readFile(aside, 'utf8')) !== contents) await link(aside, file);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'EEXIST') throw error;
  }
  await rm(aside, { force: true });
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ESRCH') return undefined;
    throw error;
  }
}

async function isOlderThan(file: string, ms: number, clock: Clock): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && clock.nowMs() - found.mtimeMs > ms;
}
