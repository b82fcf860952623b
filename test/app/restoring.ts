/** An embedded store that is backed up and restored by the code of the commands, in this process. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { backupActs } from '../../src/app/backup/commands.ts';
import { ErasureCopies } from '../../src/app/backup/erasures.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { loadWitnesses } from '../../src/app/subjects.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { administer } from '../../src/ground/embedded/administer.ts';
import { openEmbedded } from '../../src/ground/embedded/server.ts';
import { Folder } from '../../src/ground/places/folder.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { confirmSecrets } from '../../src/seal/secrets.ts';
import { type Secrets, Vault } from '../../src/seal/vault.ts';
import { createBackup } from '../../src/subjects/backup/create.ts';
import { BACKUPS } from '../../src/subjects/backup/place-of-backups.ts';
import { BackupKey } from '../../src/subjects/backup/sealed.ts';
import { commandLine } from '../cli/harness.ts';
import { TEST_SECRETS, TEST_VARIABLES } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { openPatiently } from '../support/open-patiently.ts';
import { copyCluster } from '../support/prepared-cluster.ts';
import { serverFolder } from '../support/server-folder.ts';

/** What a test does on the running store. */
export type Work = (store: Awaited<ReturnType<typeof toolsOf>>) => Promise<void>;

async function toolsOf(database: Database, secrets: Secrets) {
  const vault = new Vault(secrets);
  const store = { database, vault, clock: machineClock, isSpread: false };
  return { ...store, ...commandLine(store), register: await registrarOf(store) };
}

/** A new store with a place for its backups. Call it at the top of a test file. */
export function restorable() {
  const root = mkdtempSync(join(serverFolder(), 'ventanilla-restoring-'));
  after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  const [dataDir, folder, keyBytes] = [join(root, 'data'), join(root, 'place'), randomBytes(32)];
  const to = { place: new Folder(folder, BACKUPS), key: new BackupKey(keyBytes) };
  const variables = {
    ...TEST_VARIABLES,
    ...{ DATA_DIR: dataDir, BACKUP_TO: folder, BACKUP_KEY: keyBytes.toString('base64') },
  };
  copyCluster(dataDir);
  return {
    folder,
    /** Works on the store, and then makes a backup as the command does. Resolves to its moment. */
    async onStore(
      work: Work,
      { copiesErasures = true, secrets = TEST_SECRETS as Secrets } = {},
    ): Promise<Date> {
      const server = await openEmbedded({ dataDir, clock: machineClock });
      const { host, port, user, password, database: name } = server.superuser;
      const database = openPatiently(`postgres://${user}:${password}@${host}:${port}/${name}`, 4);
      const tools = await toolsOf(database, secrets);
      try {
        await work(tools);
        const { signal } = new AbortController();
        const { at } = await administer(dataDir, machineClock, (session) =>
          createBackup(session, { ...to, keepLog: false, rest: 0, signal }),
        );
        if (copiesErasures) await new ErasureCopies(to).copy(tools);
        return new Date(at);
      } finally {
        await database.end();
        await server.close();
      }
    },
    /** Loses the store, and restores it. `more`: other variables than those of the tests. */
    async restoreTo(at: Date | undefined, more: Readonly<Record<string, string>> = {}) {
      rmSync(dataDir, { recursive: true, force: true });
      const { restore } = backupActs(readConfig({ ...variables, ...more }), 'ana', machineClock);
      return restore({ from: undefined, at, withoutErasures: false });
    },
  };
}

/** As the start of a service does: from now on the store knows its secrets. */
export async function confirm(database: Database, secrets: Secrets): Promise<void> {
  await confirmSecrets(database, secrets, await loadWitnesses(), machineClock);
}
