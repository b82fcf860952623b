/** A store of its own for the tests of backups, with a place for its backups. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { administer } from '../../src/ground/embedded/administer.ts';
import { type EmbeddedConnection, openEmbedded } from '../../src/ground/embedded/server.ts';
import { Folder } from '../../src/ground/places/folder.ts';
import type { Place } from '../../src/ground/places/place.ts';
import { createBackup } from '../../src/subjects/backup/create.ts';
import { archiveLog } from '../../src/subjects/backup/log/archive.ts';
import { keptSlot } from '../../src/subjects/backup/log/slot.ts';
import { BACKUPS } from '../../src/subjects/backup/place-of-backups.ts';
import { BackupKey } from '../../src/subjects/backup/sealed.ts';
import { oneQuery } from '../support/one-query.ts';
import { serverFolder } from '../support/server-folder.ts';

export const root = mkdtempSync(join(serverFolder(), 'ventanilla-backup-'));
after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));

let folders = 0;

/** A path for a folder that does not exist yet. */
export function newFolder(): string {
  folders += 1;
  return join(root, `folder-${folders}`);
}

const bytes = randomBytes(32);
export const key = new BackupKey(bytes);
/** In hex, for another process. */
export const keyBytes = bytes.toString('hex');
const { signal } = new AbortController();

/** Call this at the top of a test file: a running embedded server with an empty table `marks (name text)`. */
export async function newStore() {
  const dataDir = newFolder();
  const server = await openEmbedded({ dataDir, clock: machineClock });
  after(() => server.close());
  const ask = (text: string) => oneQuery(server.superuser, text);
  await ask('CREATE TABLE marks (name text)');
  return {
    dataDir,
    connection: server.superuser,
    ask,
    mark: (name: string) => ask(`INSERT INTO marks VALUES ('${name}')`),
    now: async () => (await ask('SELECT clock_timestamp() AS now'))[0]?.now as Date,
    create: (place: Place, keepLog = true) =>
      administer(dataDir, machineClock, (session) =>
        createBackup(session, { place, key, keepLog, rest: 0, signal }),
      ),
    archive: (place: Place) =>
      administer(dataDir, machineClock, async ({ client, directory }) => {
        const slot = await keptSlot(client);
        if (slot === undefined) throw new Error('no slot');
        return archiveLog({ client, directory, place, key }, slot);
      }),
  };
}

export function newPlace(): Folder {
  return new Folder(newFolder(), BACKUPS);
}

/** The marks of a store, joined. */
export async function marksOf(connection: EmbeddedConnection): Promise<string> {
  const rows = await oneQuery(connection, 'SELECT name FROM marks ORDER BY name');
  return rows.map(({ name }) => name).join(' ');
}

export const options = { key, signal, clock: machineClock };
