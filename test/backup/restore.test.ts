/** A backup of a running store restores any moment of its log; a damaged one is refused. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { machineClock } from '../../src/ground/base/clock.ts';
import { openEmbedded } from '../../src/ground/embedded/server.ts';
import type { Place } from '../../src/ground/places/place.ts';
import { BackupError } from '../../src/subjects/backup/errors.ts';
import {
  chooseBackup,
  PLATFORM,
  readManifest,
  refuseForeign,
  storeManifest,
} from '../../src/subjects/backup/manifest.ts';
import { manifestName } from '../../src/subjects/backup/names.ts';
import { restoreBackup } from '../../src/subjects/backup/restore.ts';
import { eventually } from '../support/eventually.ts';
import { key, marksOf, newFolder, newPlace, newStore, options } from './support.ts';

/** Two transactions in one millisecond could not be told apart by a time of JavaScript. */
const APART_MS = 5;

const refused = (pattern: RegExp) => (error: unknown) =>
  error instanceof BackupError && pattern.test(error.message);
const nothing = async () => {};

/** A place that gives other objects than the real one for some names. */
function changed(place: Place, changes: Readonly<Record<string, Buffer | undefined>>): Place {
  return {
    address: place.address,
    put: (name, object) => place.put(name, object),
    get: async (name) => (name in changes ? changes[name] : place.get(name)),
    room: () => place.room(),
    list: async (prefix) =>
      (await place.list(prefix)).filter((name) => !(name in changes) || changes[name] !== undefined),
    remove: (name) => place.remove(name),
    clear: (folder) => place.clear(folder),
  };
}

const store = await newStore();
const place = newPlace();

/** The object of this name; at the first volume `stopping` aborts. */
function stopWith(stopping: AbortController, name: string): Promise<Buffer | undefined> {
  if (name.includes('/base-')) stopping.abort(new Error('told to stop'));
  return place.get(name);
}

describe('a store with a base backup and the log since', () => {
  let backup: string;
  let between: Date;

  before(async () => {
    await store.mark('before');
    backup = (await store.create(place)).name;
    await store.mark('in-log');
    await store.archive(place);
    await sleep(APART_MS);
    between = await store.now();
    await sleep(APART_MS);
    await store.mark('later');
    await store.archive(place);
    await store.mark('never-archived');
  });

  it('restores the newest state, and the store starts and goes on', async () => {
    const dataDir = newFolder();
    let seen = '';
    await restoreBackup(dataDir, {
      ...options,
      place,
      check: async (connection) => {
        seen = await marksOf(connection);
      },
    });
    assert.equal(seen, 'before in-log later');
    const server = await openEmbedded({ dataDir, clock: machineClock });
    assert.equal(await marksOf(server.superuser), 'before in-log later');
    await server.close();
  });

  it('restores a moment: what was committed before it, and nothing after', async () => {
    let seen = '';
    await restoreBackup(newFolder(), {
      ...options,
      place,
      at: between,
      check: async (connection) => {
        seen = await marksOf(connection);
      },
    });
    assert.equal(seen, 'before in-log');
  });

  it('restores a moment before a damage of the log, and names the damage for a later moment and for the newest', async () => {
    const own = newPlace();
    await store.create(own);
    const moments: Date[] = [];
    for (const name of ['x1', 'x2', 'x3']) {
      await store.mark(name);
      await store.archive(own);
      await sleep(APART_MS);
      moments.push(await store.now());
      await sleep(APART_MS);
    }
    await store.mark('x4');
    await store.archive(own);
    const last = (await own.list('')).filter((name) => name.includes('/log-0')).at(-1) as string;
    for (const [damage, told] of [
      [undefined, /the log of .* is cut off at/],
      [Buffer.from('damaged'), /log-0.* is cut off, or no part of a backup/],
    ] as const) {
      const broken = changed(own, { [last]: damage });
      const marks: string[] = [];
      const restore = (at?: Date) =>
        restoreBackup(newFolder(), {
          ...{ ...options, place: broken, at },
          check: async (connection) => void marks.push(await marksOf(connection)),
        });
      await restore(moments[1]);
      assert.match(marks[0] ?? '', /x1 x2$/);
      for (const at of [moments[2], undefined]) await assert.rejects(restore(at), refused(told));
    }
  });

  it('refuses a moment outside of its log, and names those that it has', async () => {
    for (const at of [new Date(0), new Date(Date.now() + 3_600_000)]) {
      await assert.rejects(
        chooseBackup(place, key, at),
        refused(/choose a time in one of these: from \d{4}-/),
      );
    }
  });

  it('is refused with a part missing, cut off, swapped or changed, and DATA_DIR stays usable', async () => {
    const names = await place.list('');
    const get = async (name: string) => (await place.get(name)) as Buffer;
    const [volume, second] = names.filter((name) => name.includes('/base-')) as [string, string];
    const [piece] = names.filter((name) => name.includes('/log-0')) as [string];
    const cut = (await get(volume)).subarray(0, 1_000);
    const cases: [Record<string, Buffer | undefined>, RegExp][] = [
      [{ [manifestName(backup)]: undefined }, /has no finished backup/],
      [{ [`${backup}/log-end`]: undefined }, /log-end is missing/],
      [{ [second]: undefined }, /base-000002 is missing .* cut off/],
      [{ [volume]: cut }, /base-000001 is cut off/],
      [{ [volume]: await get(second) }, /belongs under another name/],
      [{ [piece]: undefined }, /the log of .* is cut off/],
      [
        { [names.filter((name) => name.includes('/log-0')).at(-1) as string]: undefined },
        /the log of .* is cut off/,
      ],
      [{ [piece]: Buffer.from('no backup at all') }, /is cut off, or no part of a backup/],
    ];
    const dataDir = newFolder();
    for (const [changes, pattern] of cases) {
      const broken = changed(place, changes);
      await assert.rejects(
        restoreBackup(dataDir, { ...options, place: broken, check: nothing }),
        refused(pattern),
      );
      assert.equal(existsSync(dataDir), false);
    }
  });

  it('is refused for a folder with anything in it, and leaves that as it is', async () => {
    const dataDir = newFolder();
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'note'), 'mine');
    const restore = (folder: string) => restoreBackup(folder, { ...options, place, check: nothing });
    await assert.rejects(restore(dataDir), refused(/is not empty \(note\): stop the service/));
    await assert.rejects(restore(store.dataDir), refused(/is not empty/));
    assert.deepEqual(readdirSync(dataDir), ['note']);
    assert.match(await marksOf(store.connection), /never-archived/);
  });

  it('is undone where it is stopped, while it writes files and while PostgreSQL recovers', async () => {
    const dataDir = newFolder();
    const stopping = new AbortController();
    const stopped = { ...changed(place, {}), get: async (name: string) => stopWith(stopping, name) };
    await assert.rejects(
      restoreBackup(dataDir, { ...options, place: stopped, check: nothing, signal: stopping.signal }),
      /told to stop/,
    );
    assert.equal(existsSync(dataDir), false);
    const recovering = new AbortController();
    const restore = restoreBackup(dataDir, { ...options, place, check: nothing, signal: recovering.signal });
    const isRecovering = () => existsSync(join(dataDir, 'postgres.log'));
    await eventually('the recovery', isRecovering);
    recovering.abort(new Error('told to stop'));
    await assert.rejects(restore, /told to stop/);
    assert.equal(existsSync(dataDir), false);
  });

  it('is undone where the check refuses the store, and can be tried again', async () => {
    const dataDir = newFolder();
    const check = () => Promise.reject(new BackupError('INDEX_KEY is not the one'));
    await assert.rejects(restoreBackup(dataDir, { ...options, place, check }), refused(/INDEX_KEY/));
    assert.equal(existsSync(dataDir), false);
    await restoreBackup(dataDir, { ...options, place, check: nothing });
    assert.deepEqual(readdirSync(dataDir).sort(), ['postgres', 'postgres.log', 'postgres.password']);
  });

  it('is refused on another PostgreSQL or kind of machine', async () => {
    const chosen = await chooseBackup(place, key);
    refuseForeign(chosen, chosen.manifest.postgres);
    assert.throws(
      () => refuseForeign(chosen, '16'),
      refused(/of PostgreSQL 17, and this version .* runs 16/),
    );
    const foreign = { ...chosen, manifest: { ...chosen.manifest, platform: 'vms-alpha' } };
    assert.throws(
      () => refuseForeign(foreign, '17'),
      refused(new RegExp(`made on vms-alpha, and this is ${PLATFORM}`)),
    );
  });

  it('is restored to the first moment that it names', async () => {
    const own = newPlace();
    const { at } = await store.create(own);
    await sleep(APART_MS);
    await store.archive(own);
    let seen = '';
    const check = async (connection: Parameters<typeof marksOf>[0]) => {
      seen = await marksOf(connection);
    };
    await restoreBackup(newFolder(), { ...options, place: own, at: new Date(at), check });
    assert.match(seen, /never-archived/);
  });

  it('is not finished where another store clears its parts away meanwhile', async () => {
    const shared = newPlace();
    const lossy: Place = {
      ...changed(shared, {}),
      put: async (name, object) => {
        await shared.put(name, object);
        if (name.endsWith('/base-000002')) await shared.clear(name.split('/')[0] as string);
      },
    };
    await assert.rejects(
      store.create(lossy),
      refused(/base-000001 has vanished .* give each store a place of/),
    );
    await assert.rejects(chooseBackup(shared, key), refused(/has no finished backup/));
  });

  it('gives no place to another store', async () => {
    const shared = newPlace();
    const manifest = await readManifest(place, key, backup);
    assert.ok(manifest);
    await storeManifest(shared, key, '000001-aaaaaaaa', { ...manifest, store: '1' });
    await shared.put(
      '000001-aaaaaaaa/log-end',
      await key.seal('000001-aaaaaaaa/log-end', Buffer.from('{"to":"1","at":0}')),
    );
    await assert.rejects(store.create(shared), refused(/backups of another store/));
  });
});
