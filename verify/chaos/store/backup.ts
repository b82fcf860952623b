/** A backup of the running store with its log up to the end, and a store that is restored by it. */
import { randomBytes } from 'node:crypto';
import { machineClock } from '../../../src/ground/base/clock.ts';
import { administer } from '../../../src/ground/embedded/administer.ts';
import { Folder } from '../../../src/ground/places/folder.ts';
import { createBackup } from '../../../src/subjects/backup/create.ts';
import { archiveLog } from '../../../src/subjects/backup/log/archive.ts';
import { keptSlot } from '../../../src/subjects/backup/log/slot.ts';
import { BACKUPS } from '../../../src/subjects/backup/place-of-backups.ts';
import { restoreBackup } from '../../../src/subjects/backup/restore.ts';
import { BackupKey } from '../../../src/subjects/backup/sealed.ts';

interface Backup {
  readonly place: Folder;
  readonly key: BackupKey;
}

const KEY_BYTES = 32;
const WITHIN_MS = 10 * 60_000;

/** Copies the store while it is used. */
export async function backUp(home: string, folder: string): Promise<Backup> {
  const backup = { place: new Folder(folder, BACKUPS), key: new BackupKey(randomBytes(KEY_BYTES)) };
  const signal = AbortSignal.timeout(WITHIN_MS);
  await administer(home, machineClock, (server) =>
    createBackup(server, { ...backup, keepLog: true, rest: 0, signal }),
  );
  return backup;
}

/** Adds the log that was written since. */
export function catchUp(home: string, backup: Backup): Promise<void> {
  return administer(home, machineClock, async ({ client, directory }) => {
    const slot = await keptSlot(client);
    if (slot === undefined) throw new Error('the store keeps no log for its backup');
    await archiveLog({ client, directory, ...backup }, slot);
  });
}

export async function restore(home: string, backup: Backup): Promise<void> {
  await restoreBackup(home, {
    ...backup,
    check: async () => {},
    signal: AbortSignal.timeout(WITHIN_MS),
    clock: machineClock,
  });
}
