/** The backups that a service makes by itself, also beside one that cannot be read. */
import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type Clock, machineClock } from '../../src/ground/base/clock.ts';
import { Folder } from '../../src/ground/places/folder.ts';
import type { Place } from '../../src/ground/places/place.ts';
import { BackupError } from '../../src/subjects/backup/errors.ts';
import { backupsOf, manifestName } from '../../src/subjects/backup/names.ts';
import { BACKUPS } from '../../src/subjects/backup/place-of-backups.ts';
import { restoreBackup } from '../../src/subjects/backup/restore.ts';
import { removeOld } from '../../src/subjects/backup/retention.ts';
import { BackupSchedule } from '../../src/subjects/backup/schedule.ts';
import { eventually } from '../support/eventually.ts';
import { TestClock } from '../support/test-clock.ts';
import { key, marksOf, newFolder, newPlace, newStore, options } from './support.ts';

const store = await newStore();
const SLOTS = 'SELECT slot_name FROM pg_replication_slots ORDER BY slot_name';

/** Takes no object until it breaks. */
class SlowFolder extends Folder {
  readonly breaks: (() => void)[] = [];

  override put(): Promise<void> {
    return new Promise((_, reject) => {
      this.breaks.push(() => reject(new Error('the place breaks')));
    });
  }
}

class SmallFolder extends Folder {
  override async room(): Promise<number> {
    return 1024 * 1024;
  }
}

describe('the schedule of a service', () => {
  const running: BackupSchedule[] = [];
  after(() => Promise.all(running.map((schedule) => schedule.stop())));

  function scheduleTo(place: Place, clock: Clock = machineClock) {
    const created: string[] = [];
    const errors: unknown[] = [];
    const schedule = new BackupSchedule({
      clock,
      dataDir: store.dataDir,
      place,
      key,
      keep: 14,
      onCreated: ({ name }) => created.push(name),
      onError: (error) => errors.push(error),
    });
    running.push(schedule);
    return { schedule, created, errors };
  }

  const namesOf = async (place: Place) => backupsOf(await place.list(''));
  const restored = async (place: Place) => {
    let marks = '';
    const check = async (connection: Parameters<typeof marksOf>[0]) => {
      marks = await marksOf(connection);
    };
    await restoreBackup(newFolder(), { ...options, place, check });
    return marks;
  };

  it('makes a base first, then adds the log of each turn to it', async () => {
    const place = newPlace();
    const { schedule, created } = scheduleTo(place);
    await schedule.turn();
    await eventually('the base', () => created.length === 1);
    await store.mark('one');
    await schedule.turn();
    await schedule.turn();
    assert.equal(created.length, 1);
    assert.deepEqual(await namesOf(place), created);
    assert.equal(await restored(place), 'one');
  });

  it('begins anew where the place or the slot is lost, with no slot left of before', async () => {
    const place = newPlace();
    const { schedule, created } = scheduleTo(place);
    await schedule.turn();
    await eventually('the base at the new place', () => created.length === 1);
    await store.ask('SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots');
    await schedule.turn();
    await eventually('a base after the slot was lost', () => created.length === 2);
    await schedule.turn();
    rmSync(place.address, { recursive: true });
    await schedule.turn();
    await eventually('a base after the place was lost', () => created.length === 3);
    assert.equal((await store.ask(SLOTS)).length, 1);
  });

  it('has one process do the work where there are several', async () => {
    const place = newPlace();
    const several = [scheduleTo(place), scheduleTo(place), scheduleTo(place)];
    await Promise.all(several.map(({ schedule }) => schedule.turn()));
    await eventually('the base', () => several.some(({ created }) => created.length === 1));
    await Promise.all(several.map(({ schedule }) => schedule.turn()));
    await Promise.all(several.map(({ schedule }) => schedule.stop()));
    assert.equal((await namesOf(place)).length, 1);
  });

  it('tells that the place fails, and goes on without a gap once it works', async () => {
    const place = newPlace();
    const { schedule, created } = scheduleTo(place);
    await schedule.turn();
    await eventually('the base', () => created.length === 1);
    await schedule.turn();
    renameSync(place.address, `${place.address}-away`);
    writeFileSync(place.address, 'no folder');
    await store.mark('three');
    const isTold = (error: unknown) =>
      error instanceof BackupError && /the place of the backups, .* fails \(E\w+\)/.test(error.message);
    await assert.rejects(schedule.turn(), isTold);
    rmSync(place.address);
    renameSync(`${place.address}-away`, place.address);
    await schedule.turn();
    assert.match(await restored(place), /three/);
    assert.equal(created.length, 1);
    await store.ask('SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots');
    const other = newPlace();
    writeFileSync(other.address, 'no folder');
    const clock = new TestClock();
    const failing = scheduleTo(other, clock);
    await failing.schedule.turn();
    await eventually('the failure of a base', () => failing.errors.length === 1);
    assert.ok(isTold(failing.errors[0]));
    // The next try comes a quarter of an hour later.
    await clock.advance(15 * 60_000 - 1);
    await failing.schedule.turn();
    await failing.schedule.stop();
    assert.equal(failing.errors.length, 1);
  });

  it('says at the first turn that the place has too little room, and begins nothing there', async () => {
    const place = new SmallFolder(newFolder(), BACKUPS);
    const { schedule, errors } = scheduleTo(place);
    await schedule.turn();
    await eventually('the failure of a base', () => errors.length === 1);
    const told =
      /^the place of the backups, \S+, has room for 1 MiB, and a backup needs about \d+ MiB: make room or set/;
    assert.match((errors[0] as BackupError).message, told);
    assert.deepEqual(await place.list(''), []);
  });

  it('tries a base that failed again after a quarter of an hour', async () => {
    const place = newPlace();
    writeFileSync(place.address, 'no folder');
    const clock = new TestClock();
    const { schedule, created, errors } = scheduleTo(place, clock);
    await schedule.turn();
    await eventually('the failure of a base', () => errors.length === 1);
    rmSync(place.address);
    await clock.advance(15 * 60_000 - 1);
    await schedule.turn();
    await clock.advance(1);
    assert.deepEqual(await namesOf(place), []);
    const making = schedule.turn();
    // The base rests between its volumes.
    await eventually('the base', async () => {
      await clock.advance(60_000);
      return created.length === 1;
    });
    await making;
    assert.equal(errors.length, 1);
  });

  it('lets the upkeep go on after three seconds where the place is slow, and tells what fails later', async () => {
    const place = newPlace();
    const first = scheduleTo(place);
    await first.schedule.turn();
    await eventually('the base', () => first.created.length === 1);
    await first.schedule.stop();
    const clock = new TestClock();
    const slow = new SlowFolder(place.address, BACKUPS);
    const { schedule, errors } = scheduleTo(slow, clock);
    let isOver = false;
    const turn = schedule.turn().then(() => {
      isOver = true;
    });
    await eventually('the log', () => slow.breaks.length === 1);
    await clock.advance(2_999);
    assert.equal(isOver, false);
    await clock.advance(1);
    await turn;
    await schedule.turn();
    assert.deepEqual([slow.breaks.length, errors], [1, []]);
    slow.breaks[0]!();
    await eventually('the failure', () => errors.length === 1);
    assert.match(`${errors[0]}`, /the place breaks/);
  });

  it('keeps the newest backups, and clears away what was never finished', async () => {
    const place = newPlace();
    await place.put('000001-00000000/base-000001', Buffer.from('of a process that died'));
    const made = [];
    for (let count = 0; count < 3; count += 1) made.push((await store.create(place, false)).name);
    assert.deepEqual(await namesOf(place), made);
    assert.deepEqual(await removeOld(place, key, 2), made.slice(0, 1));
    assert.deepEqual(await namesOf(place), made.slice(1));
  });

  it('leaves no slot behind for a single backup, and refuses two at once', async () => {
    await store.ask('SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active');
    const place = newPlace();
    const results = await Promise.allSettled([store.create(place, false), store.create(place, false)]);
    const failed = results.filter((result) => result.status === 'rejected');
    assert.equal(failed.length, 1);
    assert.match(String(failed[0]?.reason), /another backup of this store is under way/);
    await eventually('no slot', async () => (await store.ask(SLOTS)).length === 0);
  });
});

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
    await assert.rejects(
      store.create(place, false),
      (error) => error instanceof BackupError && /manifest is cut off/.test(error.message),
    );
  });
});
