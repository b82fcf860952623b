/** Backups beside one that cannot be read. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { BackupError } from '../../src/backup/errors.ts';
import { backupsOf, manifestName } from '../../src/backup/names.ts';
import { removeOld } from '../../src/backup/retention.ts';
import { key, newPlace, newStore } from './support.ts';

const store = await newStore();

const refused = (pattern: RegExp) => (error: unknown) =>
  error instanceof BackupError && pattern.test(error.message);

describe('a backup that cannot be read', () => {
  it('hinders no new backup, and goes with the old ones', async () => {
    const place = newPlace();
    await store.create(place, false);
    const damaged = (await store.create(place, false)).name;
    writeFileSync(join(place.address, manifestName(damaged)), 'VBK');
    const made = [(await store.create(place, false)).name, (await store.create(place, false)).name];
    assert.equal((await removeOld(place, key, 2)).length, 2);
    assert.deepEqual(backupsOf(await place.list('')), made);
  });

  it('refuses a new backup where none of the place is readable: one place has one key', async () => {
    const place = newPlace();
    const { name } = await store.create(place, false);
    writeFileSync(join(place.address, manifestName(name)), 'VBK');
    await assert.rejects(store.create(place, false), refused(/manifest is cut off/));
  });
});
