/** A place that lies, stalls or never ends costs neither memory nor other data, and is told to the operator. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { BackupError } from '../../src/subjects/backup/errors.ts';
import { MOST_OBJECT_BYTES } from '../../src/subjects/backup/place-of-backups.ts';
import { hostile } from '../places/hostile-s3.ts';
import { newFolder, newPlace } from './support.ts';

const MANIFEST = '000001-00000001/manifest';
const fails = (pattern: RegExp) => (error: unknown) =>
  error instanceof BackupError && pattern.test(error.message);

describe('an S3 store', () => {
  it('is read no further than an object may be long', async () => {
    const part = Buffer.alloc(1024 * 1024);
    let sent = 0;
    const { place } = await hostile((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(part)) sent += part.length;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    await assert.rejects(place.get(MANIFEST), fails(/gives more than 20971520 bytes for one object/));
    assert.ok(sent < 4 * MOST_OBJECT_BYTES, `${sent} bytes were taken`);
  });

  it('that cuts an answer is asked again, and then told to fail', async () => {
    const { place, requests } = await hostile((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('short');
      response.destroy();
    });
    await assert.rejects(place.get(MANIFEST), fails(/the place of the backups, .* fails/));
    assert.equal(requests.length, 5);
  });
});

describe('a folder', () => {
  it('gives no object that is a pipe, a device, a folder, or larger than an object may be', async () => {
    const place = newPlace();
    const folder = join(place.address, '000001-00000001');
    mkdirSync(folder, { recursive: true });
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    symlinkSync('/dev/zero', join(folder, 'endless'));
    mkdirSync(join(folder, 'folder'));
    for (const name of ['pipe', 'endless', 'folder']) {
      await assert.rejects(place.get(`000001-00000001/${name}`), fails(/is no file: use another backup/));
    }
    writeFileSync(join(folder, 'manifest'), '');
    truncateSync(join(folder, 'manifest'), MOST_OBJECT_BYTES + 1);
    await assert.rejects(place.get(MANIFEST), fails(/is larger than any part of a backup/));
  });

  it('is cleared without following links', async () => {
    const place = newPlace();
    const precious = newFolder();
    mkdirSync(precious);
    mkdirSync(place.address);
    writeFileSync(join(precious, 'manifest'), 'mine');
    symlinkSync(precious, join(place.address, '000001-00000001'));
    await place.clear('000001-00000001');
    execFileSync('test', ['-s', join(precious, 'manifest')]);
    assert.equal(await place.get(MANIFEST), undefined);
  });
});
