/** Where the tests put the data of the servers that they start. */
import { statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';

/** Linux keeps the files of this folder in memory: a commit that waits for them waits a fifth of a disk's time. */
const IN_MEMORY = '/dev/shm';
/** More than the servers of a run take. Each DROP DATABASE is a checkpoint, so their logs of writes stay short. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

/** The folder for new data directories: in memory where there is room, otherwise the folder for temporary files. */
export function serverFolder(): string {
  return freemem() > ENOUGH_BYTES && hasRoom() ? IN_MEMORY : tmpdir();
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize > ENOUGH_BYTES;
  } catch {
    return false;
  }
}
