/** A small disk of its own for a machine, where this machine lets us mount one. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statfsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const SIZE = '3g';
const PIECE_BYTES = 64 * 1024 * 1024;

export class Disk {
  /** Where it is mounted; a common folder where only root may mount. */
  readonly path: string;
  readonly isOwn: boolean;

  constructor(path: string) {
    this.path = path;
    mkdirSync(path, { recursive: true, mode: 0o755 });
    const isLinuxRoot = process.platform === 'linux' && process.getuid?.() === 0;
    this.isOwn =
      isLinuxRoot &&
      spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=755`, 'tmpfs', path]).status === 0;
  }

  get #ballast(): string {
    return join(this.path, 'ballast');
  }

  /** Leaves no byte free. */
  async fill(): Promise<void> {
    for (let left = free(this.path); left > 0; left = free(this.path)) {
      try {
        await writeFile(this.#ballast, Buffer.alloc(Math.min(left, PIECE_BYTES)), { flag: 'a' });
      } catch (error) {
        // Somebody else wrote meanwhile, but the disk is full all the same.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
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
