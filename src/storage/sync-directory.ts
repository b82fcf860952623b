/** Sees to it that a new file is still there after a power cut. */
import { open } from 'node:fs/promises';

/** Puts a directory's entries on disk. A file that is on disk is lost where its entry is not. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
