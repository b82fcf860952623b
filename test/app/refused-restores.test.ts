/** A restore that is refused leaves nothing behind, for whatever reason. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { backupActs } from '../../src/app/backup/commands.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { openStore } from '../../src/app/open-store.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { administer } from '../../src/ground/embedded/administer.ts';
import { openEmbedded } from '../../src/ground/embedded/server.ts';
import { Folder } from '../../src/ground/places/folder.ts';
import { readManifest, storeManifest } from '../../src/subjects/backup/manifest.ts';
import { BACKUPS } from '../../src/subjects/backup/place-of-backups.ts';
import { BackupKey } from '../../src/subjects/backup/sealed.ts';
import { TEST_VARIABLES } from '../support/database.ts';
import { serverFolder } from '../support/server-folder.ts';

const root = mkdtempSync(join(serverFolder(), 'ventanilla-refused-'));
after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
const PLACE = join(root, 'place');
const KEY = randomBytes(32);
const BASE = { ...TEST_VARIABLES, BACKUP_TO: PLACE, BACKUP_KEY: KEY.toString('base64') };
const OTHER = randomBytes(32).toString('base64');

function acts(variables: Readonly<Record<string, string>>) {
  return backupActs(readConfig(variables), 'ana', machineClock);
}

type Change = (place: string, backup: string) => void | Promise<void>;

/** Writes the manifest of the backup anew. */
function withManifest(change: object): Change {
  return async (place, backup) => {
    const [folder, key] = [new Folder(place, BACKUPS), new BackupKey(KEY)];
    const manifest = await readManifest(folder, key, backup);
    assert.ok(manifest);
    await storeManifest(folder, key, backup, { ...manifest, ...change });
  };
}

const objectOf = (place: string, backup: string, begin: string) =>
  join(place, backup, readdirSync(join(place, backup)).find((name) => name.startsWith(begin)) as string);

const PLACES: readonly (readonly [what: string, change: Change, told: RegExp])[] = [
  [
    'no finished backup',
    (place, backup) => rmSync(join(place, backup), { recursive: true }),
    /no finished backup/,
  ],
  ['a missing part', (place, backup) => rmSync(objectOf(place, backup, 'base-')), /is missing in/],
  [
    'a changed part',
    (place, backup) => writeFileSync(objectOf(place, backup, 'base-'), 'x'),
    /cut off, or no part/,
  ],
  [
    'a missing piece of the log',
    (place, backup) => rmSync(objectOf(place, backup, 'log-0')),
    /the log of .* cut off/,
  ],
  ['another PostgreSQL', withManifest({ postgres: '9' }), /of PostgreSQL 9/],
  ['another machine', withManifest({ platform: 'vms-alpha' }), /made on vms-alpha/],
  ['too little room', withManifest({ bytes: 2 ** 60 }), /has room for/],
  [
    'a damaged erasure',
    (place) => new Folder(place, BACKUPS).put('erasures/x', Buffer.from('x')),
    /the erasures in/,
  ],
];
const SETTINGS: readonly (readonly [
  what: string,
  variables: Readonly<Record<string, string>>,
  told: RegExp,
])[] = [
  ['no place', { BACKUP_TO: '' }, /no place is given/],
  ['no key of backups', { BACKUP_KEY: '' }, /BACKUP_KEY is required/],
  ['another key of backups', { BACKUP_KEY: OTHER }, /another BACKUP_KEY/],
  ['no secrets', { DATA_KEYS: '', INDEX_KEY: '', API_KEY_PEPPER: '' }, /a backup holds no keys/],
  ['other secrets', { INDEX_KEY: OTHER }, /INDEX_KEY is not the one/],
];

describe('a restore that is refused leaves nothing behind', () => {
  let backup: string;
  const dataDir = join(root, 'store');
  const target = join(root, 'new', 'data');
  const { signal } = new AbortController();

  async function refused(
    variables: Readonly<Record<string, string>>,
    told: RegExp,
    at?: Date,
  ): Promise<void> {
    const restore = async () =>
      acts({ ...BASE, ...variables, DATA_DIR: target }).restore({
        from: undefined,
        at,
        withoutErasures: false,
      });
    await assert.rejects(restore, told);
    assert.equal(existsSync(join(root, 'new')), false);
  }

  before(async () => {
    const nobody = { notice() {}, lost() {}, onError() {} };
    const config = readConfig({ ...BASE, DATA_DIR: dataDir });
    const store = await openStore(config, {
      clock: machineClock,
      kind: 'service',
      makes: 'store',
      signal,
      ...nobody,
    });
    await store.confirm();
    await store.close();
    backup = (await acts({ ...BASE, DATA_DIR: dataDir }).create(undefined)).name;
  });

  for (const [what, change, told] of PLACES) {
    it(`with ${what}`, async () => {
      const place = `${PLACE}-changed`;
      cpSync(PLACE, place, { recursive: true });
      await change(place, backup);
      await refused({ BACKUP_TO: place }, told);
      rmSync(place, { recursive: true });
    });
  }

  for (const [what, variables, told] of SETTINGS) {
    it(`with ${what}`, () => refused(variables, told));
  }

  it('to a moment that no backup has, and the text names those that it has to the millisecond', () =>
    refused({}, /choose a time in one of these: from \S+\.\d{3}Z until before \S+\.\d{3}Z/, new Date(0)));

  it('of a store of another version', async () => {
    const server = await openEmbedded({ dataDir, clock: machineClock });
    await administer(dataDir, machineClock, ({ client }) =>
      client.query("UPDATE schema_migrations SET checksum = 'x' WHERE name LIKE '0001%'"),
    );
    await server.close();
    const place = join(root, 'other-version');
    await acts({ ...BASE, DATA_DIR: dataDir }).create(place);
    await refused({ BACKUP_TO: place }, /^BackupError: another version of Ventanilla made the database/);
  });

  it('into a folder that was there, which stays as it was', async () => {
    const names = readdirSync(dataDir);
    const restore = { from: undefined, at: undefined, withoutErasures: false };
    await assert.rejects(acts({ ...BASE, DATA_DIR: dataDir }).restore(restore), /is not empty/);
    assert.deepEqual(readdirSync(dataDir), names);
  });
});
