/**
 * Tries a backup out: restores it into a scratch folder, starts the store and runs all checks of `ground/invariants`
 * (README.md). Writes files below TMPDIR and removes them.
 */
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../ground/base/clock.ts';
import { clearRecoveries } from '../../ground/embedded/recoveries.ts';
import { type EmbeddedConnection, hangUp, login } from '../../ground/embedded/session.ts';
import { discard, keepYoung, temporariesBeside, temporaryBeside } from '../../ground/files/temporary.ts';
import { checkStore, type Finding } from '../../ground/invariants/check-store.ts';
import { type Restored, type RestoreOptions, restoreInto } from './restore.ts';

export interface Verified extends Restored {
  readonly findings: readonly Finding[];
}

/**
 * Restores into a scratch folder, starts the store, runs all checks, and gives the store to `look`. Throws
 * `BackupError` if the backup does not restore.
 */
export async function verifyBackup(
  options: Omit<RestoreOptions, 'check'>,
  look: (connection: EmbeddedConnection) => Promise<void>,
): Promise<Verified> {
  const { clock } = options;
  let findings: readonly Finding[] = [];
  const restored = await lookAtBackup({
    ...options,
    check: async (connection) => {
      const client = await login(connection, clock);
      try {
        findings = await checkStore(client);
      } finally {
        await hangUp(client, clock);
      }
      await look(connection);
    },
  });
  return { ...restored, findings };
}

/**
 * Restores into a folder of its own below the folder for temporary files (TMPDIR), starts the store, gives it to
 * `check`, and removes the folder. Throws `BackupError` if the backup does not restore.
 */
export async function lookAtBackup(options: RestoreOptions): Promise<Restored> {
  const { clock } = options;
  const scratch = join(tmpdir(), 'ventanilla-verify');
  await clearScratch(scratch, clock);
  const home = temporaryBeside(scratch);
  await mkdir(home, { mode: 0o700 });
  const letAge = keepYoung(home, clock);
  try {
    return await restoreInto(home, options, false);
  } finally {
    letAge();
    await discard(home);
  }
}

/** Removes what killed processes left. Folders of other users stay. */
async function clearScratch(scratch: string, clock: Clock): Promise<void> {
  for (const { temporary, isStale } of await temporariesBeside(scratch, clock)) {
    if (!isStale) continue;
    await clearRecoveries(temporary, clock)
      .then(() => discard(temporary))
      .catch(() => {});
  }
}
