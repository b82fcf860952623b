/** Tries a backup out: restores it into a scratch folder and checks the store. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hangUp, login } from '../embedded/session.ts';
import { checkStore, type Finding } from '../invariants/check-store.ts';
import { type Restored, type RestoreOptions, restoreInto } from './restore.ts';

export interface Verified extends Restored {
  readonly findings: readonly Finding[];
}

/**
 * Restores into a folder of its own below the folder for temporary files (TMPDIR), starts the store, runs all checks,
 * and removes the folder. Throws `BackupError` where the backup does not restore.
 */
export async function verifyBackup(options: Omit<RestoreOptions, 'check'>): Promise<Verified> {
  const home = await mkdtemp(join(tmpdir(), 'ventanilla-verify-'));
  let findings: readonly Finding[] = [];
  try {
    const check = async (connection: Parameters<typeof login>[0]) => {
      const client = await login(connection);
      try {
        findings = await checkStore(client);
      } finally {
        await hangUp(client);
      }
    };
    const restored = await restoreInto(home, { ...options, check }, false);
    return { ...restored, findings };
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}
