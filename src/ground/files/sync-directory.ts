/** Makes a new file survive a power cut, by writing its directory to disk (`fsync`). */
import { open } from 'node:fs/promises';

/** Puts a directory's entries on disk. A file on disk is lost if its entry is not on disk. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
