/** A restored store is restored once more, to a moment that its place has of the first store (docs/backup.md). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { backupActs } from '../../src/app/backup/commands.ts';
import { ErasureCopies } from '../../src/app/backup/erasures.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { toPhone } from '../../src/applications/rules/phone.ts';
import { createBackup } from '../../src/backup/create.ts';
import { BACKUPS } from '../../src/backup/place-of-backups.ts';
import { BackupKey } from '../../src/backup/sealed.ts';
import { machineClock } from '../../src/base/clock.ts';
import { administer } from '../../src/embedded/administer.ts';
import { openEmbedded } from '../../src/embedded/server.ts';
import { Folder } from '../../src/places/folder.ts';
import type { Database } from '../../src/postgres/database.ts';
import { Vault } from '../../src/seal/vault.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { TEST_SECRETS, TEST_VARIABLES } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { openPatiently } from '../support/open-patiently.ts';
import { copyCluster } from '../support/prepared-cluster.ts';
import { serverFolder } from '../support/server-folder.ts';

const root = mkdtempSync(join(serverFolder(), 'ventanilla-twice-'));
after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
const dataDir = join(root, 'data');
const [BACKUP_TO, keyBytes] = [join(root, 'place'), randomBytes(32)];
const to = { place: new Folder(BACKUP_TO, BACKUPS), key: new BackupKey(keyBytes) };
const variables = {
  ...TEST_VARIABLES,
  DATA_DIR: dataDir,
  BACKUP_TO,
  BACKUP_KEY: keyBytes.toString('base64'),
};
const { restore } = backupActs(readConfig(variables), 'ana', machineClock);
const vault = new Vault(TEST_SECRETS);
const { signal } = new AbortController();

/** Works on the store, and then makes a backup as the command does. Resolves to its moment. */
async function onStore(
  work: (store: Awaited<ReturnType<typeof toolsOf>>) => Promise<void>,
  copiesErasures = true,
): Promise<Date> {
  const server = await openEmbedded({ dataDir, clock: machineClock });
  const { host, port, user, password, database: name } = server.superuser;
  const database = openPatiently(`postgres://${user}:${password}@${host}:${port}/${name}`, 4);
  try {
    await work(await toolsOf(database));
    const { at } = await administer(dataDir, machineClock, (session) =>
      createBackup(session, { ...to, keepLog: false, rest: 0, signal }),
    );
    if (copiesErasures) await new ErasureCopies(to).copy({ database, vault, clock: machineClock });
    return new Date(at);
  } finally {
    await database.end();
    await server.close();
  }
}

async function toolsOf(database: Database) {
  const store = { database, vault, clock: machineClock, isSpread: false };
  return { json: commandLine(store).json, register: await registrarOf(store) };
}

function restoreTo(at: Date) {
  rmSync(dataDir, { recursive: true });
  return restore({ at, withoutErasures: false });
}

it('ends and erases again what the first store has ended and erased after the moment, and what the restored one has', async () => {
  copyCluster(dataDir);
  const [gone, stays] = [toPhone('+573004440001'), toPhone('+573004440002')];
  const keys: number[] = [];
  const early = await onStore(async ({ json }) => {
    await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  });
  const late = await onStore(async ({ json, register }) => {
    for (let n = 0; n < 2; n += 1) keys.push((await json('key', 'issue', '--partner', '1')).id);
    await register(keys[0]!, [applicant({ phone: gone }), applicant({ phone: stays })]);
    await json('operator', 'add', '--login', 'luz', '--role', 'reviewer');
  });
  // It is killed before it has written the erasure beside the backups.
  await onStore(async ({ json }) => {
    await json('key', 'revoke', `${keys[0]}`);
    await json('operator', 'disable', 'luz');
    await json('suppression', 'add', '+573009998877');
    await json('subject', 'erase', '--phone', gone, '--reason', 'x', '--close', '--yes');
  }, false);

  await restoreTo(early);
  await onStore(async ({ json }) => {
    assert.deepEqual(await json('key', 'list'), []);
    await json('suppression', 'add', '+573001112233');
  }, false);

  assert.equal(readdirSync(BACKUP_TO).includes('erasures'), false);
  const { ended, erased } = await restoreTo(late);
  assert.deepEqual(ended.keys, [keys[0]]);
  assert.deepEqual(
    ended.losses.map(({ what }) => what),
    ['account'],
  );
  assert.deepEqual([ended.suppressions, erased.erasures, erased.applications], [3, 1, 1]);
  await onStore(async ({ json }) => {
    const found = (await json('key', 'list')) as { id: number; status: string }[];
    assert.deepEqual(
      keys.map((key) => found.find(({ id }) => id === key)?.status),
      ['revoked', 'live'],
    );
    assert.deepEqual(await json('application', 'list', '--phone', gone), []);
    assert.equal((await json('application', 'list', '--phone', stays)).length, 1);
  });
});
