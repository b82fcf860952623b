/** Which backup a restore takes, where a place has several, and some that cannot be read. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Folder } from '../../src/ground/places/folder.ts';
import type { Place } from '../../src/ground/places/place.ts';
import { BackupError } from '../../src/subjects/backup/errors.ts';
import { chooseBackup, storeManifest } from '../../src/subjects/backup/manifest.ts';
import { logEndName, manifestName } from '../../src/subjects/backup/names.ts';
import { BACKUPS } from '../../src/subjects/backup/place-of-backups.ts';
import { BackupKey } from '../../src/subjects/backup/sealed.ts';

const key = new BackupKey(randomBytes(32));

/** A place in a folder of its own. */
function newPlace(): Folder {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-places-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return new Folder(folder, BACKUPS);
}

interface Made {
  readonly name: string;
  readonly at: string;
  readonly to: number;
  readonly toAt: string;
  readonly timeline?: number;
}

/** Puts a backup with nothing but what tells it from others into a place. */
async function put(place: Place, { name, at, to, toAt, timeline = 1 }: Made): Promise<void> {
  const logEnd = Buffer.from(JSON.stringify({ to: String(to), at: toAt }));
  await place.put(logEndName(name), await key.seal(logEndName(name), logEnd));
  await storeManifest(place, key, name, {
    ...{ store: '1', postgres: '18', platform: 'any', at, volumes: 1, bytes: 1, timeline },
    ...{ logFrom: '0/1', logTo: '0/1', label: '', password: '' },
  });
}

const at = (hour: number) => `2026-11-20T${String(hour).padStart(2, '0')}:00:00.000Z`;
const [FIRST, SECOND, THIRD] = ['000001-00000001', '000002-00000002', '000003-00000003'] as const;
const refused = (pattern: RegExp) => (error: unknown) =>
  error instanceof BackupError && pattern.test(error.message);

describe('the newest state', () => {
  it('comes from an older backup whose log went on after a backup by command', async () => {
    const place = newPlace();
    await put(place, { name: FIRST, at: at(0), to: 900, toAt: at(20) });
    await put(place, { name: SECOND, at: at(9), to: 500, toAt: at(9) });
    assert.equal((await chooseBackup(place, key)).name, FIRST);
  });

  it('does not come from the log of a lost store: one of another timeline, or one that ended before', async () => {
    const place = newPlace();
    await put(place, { name: FIRST, at: at(0), to: 900, toAt: at(23) });
    await put(place, { name: SECOND, at: at(1), to: 800, toAt: at(2), timeline: 2 });
    await put(place, { name: THIRD, at: at(3), to: 500, toAt: at(9), timeline: 2 });
    assert.equal((await chooseBackup(place, key)).name, THIRD);
  });
});

describe('a backup that cannot be read', () => {
  async function withDamaged() {
    const place = newPlace();
    await put(place, { name: FIRST, at: at(0), to: 500, toAt: at(5) });
    await put(place, { name: SECOND, at: at(5), to: 900, toAt: at(9) });
    writeFileSync(join(place.address, manifestName(SECOND)), 'VBK');
    return place;
  }

  it('is never passed over in silence: the text names it, and the moments that others have', async () => {
    const place = await withDamaged();
    const told =
      /^000002-00000002\/manifest is cut off.*with --at, and choose a time in one of these: from 2026-11-20T00:00/;
    await assert.rejects(chooseBackup(place, key), refused(told));
    rmSync(join(place.address, manifestName(SECOND)));
    await put(place, { name: SECOND, at: at(5), to: 900, toAt: at(9) });
    rmSync(join(place.address, logEndName(SECOND)));
    await assert.rejects(chooseBackup(place, key), refused(/log-end is missing .*--at/));
  });

  it('leaves the moments of other backups', async () => {
    const place = await withDamaged();
    assert.equal((await chooseBackup(place, key, new Date(at(3)))).name, FIRST);
    await assert.rejects(
      chooseBackup(place, key, new Date(at(7))),
      refused(/leads to .*T07.*choose a time.*000002-00000002\/manifest is cut off/),
    );
  });
});
