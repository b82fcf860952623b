/** A small disk of its own for a machine, where this machine lets us mount one. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SIZE = '3g';
/** A piece that does not fit any more is given back whole, and takes its time. */
const PIECE_BYTES = 256 * 1024 * 1024;
const FULL_WITHIN_MS = 60_000;
const allocate = promisify(execFile);

export class Disk {
  /** Where it is mounted; a common folder where only root may mount, or where nothing fills the disk. */
  readonly path: string;
  readonly isOwn: boolean;

  constructor(path: string, isWanted: boolean) {
    this.path = path;
    mkdirSync(path, { recursive: true, mode: 0o755 });
    const isLinuxRoot = process.platform === 'linux' && process.getuid?.() === 0;
    this.isOwn =
      isWanted &&
      isLinuxRoot &&
      spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=755`, 'tmpfs', path]).status === 0;
  }

  get #ballast(): string {
    return join(this.path, 'ballast');
  }

  /** Leaves no byte free. Throws where this takes too long. */
  async fill(): Promise<void> {
    const deadline = performance.now() + FULL_WITHIN_MS;
    for (let [left, at] = [free(this.path), 0]; left > 0; left = free(this.path)) {
      if (performance.now() > deadline) throw new Error(`the disk does not get full: ${left} bytes are left`);
      const piece = Math.min(left, PIECE_BYTES);
      // It fails where somebody else wrote meanwhile; then there is less left.
      at += await allocate('fallocate', ['-o', `${at}`, '-l', `${piece}`, this.#ballast]).then(
        () => piece,
        () => 0,
      );
    }
  }

  empty(): void {
    rmSync(this.#ballast, { force: true });
  }

  unmount(): void {
    if (this.isOwn && existsSync(this.path)) spawnSync('umount', ['-l', this.path]);
  }
}

function free(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Ends every server of the disk, without waiting. */
export function abandon(disk: Disk): void {
  if (!existsSync(disk.path)) return;
  for (const home of readdirSync(disk.path)) {
    const pid = postmasterOf(join(disk.path, home, 'postgres'));
    if (pid !== null) process.kill(pid, 'SIGKILL');
  }
  disk.unmount();
}

/** Only a running one: a pid in an old file may belong to another program by now. */
function postmasterOf(directory: string): number | null {
  try {
    const pid = Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('ventanilla.cluster=') ? pid : null;
  } catch {
    return null;
  }
}
